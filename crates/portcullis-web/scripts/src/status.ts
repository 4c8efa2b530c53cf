// Short sentences that screen readers say when they have the time.

/** An element whose changes are announced politely. It has to be in the page before it changes. */
export function statusLine(className: string): HTMLSpanElement {
  const line = document.createElement("span");
  line.className = className;
  line.setAttribute("role", "status");
  return line;
}

// Buttons that copy the text of another element: `<button type="button" data-copy="#id">Copy</button>`. Styles hide them
// where this script does not run.

import { copy } from "./clipboard";
import { statusLine } from "./status";

/** How long a button says what it did. */
const SAID = 2000;

const status = statusLine("hidden");
document.body.append(status);
document.documentElement.dataset["copies"] = "";

// One listener for all, also for buttons that a live update brings.
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const button = target?.closest<HTMLElement>("[data-copy]");
  if (button) void answer(button);
});

async function answer(button: HTMLElement): Promise<void> {
  const source = document.querySelector(button.dataset["copy"] ?? "");
  if (!source || button.dataset["says"]) return;
  const said = (await copy(text(source))) ? "Copied" : "Not copied";
  const label = button.textContent;
  button.dataset["says"] = said;
  button.textContent = said;
  status.textContent = said;
  setTimeout(() => {
    delete button.dataset["says"];
    button.textContent = label;
    status.textContent = "";
  }, SAID);
}

function text(source: Element): string {
  const isField = source instanceof HTMLTextAreaElement || source instanceof HTMLInputElement;
  return isField ? source.value : (source.textContent ?? "");
}

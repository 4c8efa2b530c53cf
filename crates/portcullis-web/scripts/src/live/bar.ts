// What a person sees of live updates: a switch, a sentence about how they go, and how much is new while they are paused.

import { statusLine } from "../status";

/** How often a number that grows is announced at most. */
const ANNOUNCED = 5000;

export class Bar {
  private readonly toggle = button("");
  private readonly state = statusLine("hint");
  private readonly count = statusLine("new");
  private readonly show = button("Show");
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, onToggle: () => void, onShow: () => void) {
    this.toggle.addEventListener("click", onToggle);
    this.show.addEventListener("click", () => {
      onShow();
      this.toggle.focus(); // its own button goes away
    });
    this.show.className = "asks";
    this.show.hidden = true;
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", "Live updates");
    host.replaceChildren(this.toggle, this.state, this.count, this.show);
  }

  /** Shows what the switch would do, and how updates go. */
  say(isPaused: boolean, sentence: string): void {
    setText(this.toggle, isPaused ? "Resume updates" : "Pause updates");
    setText(this.state, sentence);
  }

  /** Shows how much is new; nothing if it is no number. */
  news(text: string): void {
    clearTimeout(this.timer);
    if (text === "") {
      this.last = -Infinity;
      this.announce("");
      return;
    }
    const wait = this.last + ANNOUNCED - performance.now();
    this.timer = setTimeout(() => this.announce(text), Math.max(wait, 0));
  }

  /** Updates are over: there is nothing to switch any more. */
  end(sentence: string): void {
    this.news("");
    this.toggle.hidden = true;
    setText(this.state, sentence);
    const reload = document.createElement("a");
    reload.href = location.pathname + location.search;
    reload.textContent = "Reload the page";
    this.state.append(" ", reload);
  }

  /** The page does not change any more. */
  finish(): void {
    this.news("");
    this.toggle.hidden = true;
    setText(this.state, "");
  }

  private announce(text: string): void {
    if (text !== "") this.last = performance.now();
    setText(this.count, text);
    this.show.hidden = text === "";
  }
}

function button(label: string): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  return made;
}

/** Changes a text only if it is another, because each change is announced. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

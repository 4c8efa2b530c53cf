// Puts the new version of a live element in place of the old one.

import { isEdited } from "./edited";
import { morph } from "./morph";

/** The elements of the page that are kept up to date. */
export function liveElements(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-live][id], [data-live-stream][id]")];
}

/** Whether something is on the page already: a link to it is. */
export function isShown(id: string): boolean {
  const link = `a[href$="/${CSS.escape(id)}"]`;
  return id !== "" && liveElements().some((element) => element.querySelector(link) !== null);
}

/** Brings all of them up to date with a newer version of the page, but for those with a form that is being edited. */
export function update(page: Document): void {
  for (const element of liveElements()) {
    const wanted = page.getElementById(element.id);
    if (wanted && !isEdited(element)) renew(element, wanted);
  }
}

function renew(element: HTMLElement, wanted: HTMLElement): void {
  const focused = document.activeElement;
  const link = focused && element.contains(focused) ? focused.getAttribute("href") : null;
  const ended = tails(element).filter(isAtEnd);
  morph(element, wanted);
  for (const tail of tails(element)) {
    if (ended.includes(tail) || !seen.has(tail)) toEnd(tail);
  }
  // The link that had the focus was replaced by one to the same place.
  if (link !== null && !focused?.isConnected) {
    element.querySelector<HTMLElement>(`[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
  }
}

/** Texts that grow: readers see their end, until they scroll up. */
export function tails(within: ParentNode): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>("[data-tail]")];
}

function isAtEnd(tail: HTMLElement): boolean {
  return tail.scrollHeight - tail.scrollTop - tail.clientHeight < 8;
}

/** Texts that were at their end once, and are where the reader wants them since. */
const seen = new WeakSet<HTMLElement>();

/** Scrolls to the end of a text. */
export function toEnd(tail: HTMLElement): void {
  seen.add(tail);
  tail.scrollTop = tail.scrollHeight;
}

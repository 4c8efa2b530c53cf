// Makes an element like its new version without replacing what is the same: a reader keeps focus, selection, scroll
// position, and what they opened.

import { type Key, matched } from "./match";

/** Makes `old` like `wanted`, which belongs to another document. */
export function morph(old: Element, wanted: Element): void {
  copyAttributes(old, wanted);
  const olds = [...old.childNodes];
  const news = [...wanted.childNodes];
  const same = matched(olds.map(key), news.map(key));
  let at = 0; // the first old child that is not settled
  news.forEach((child, place) => {
    const kept = same[place] ?? -1;
    if (kept >= 0) {
      olds.slice(at, kept).forEach((gone) => gone.remove());
      at = kept + 1;
      return;
    }
    const end = same.slice(place).find((found) => found >= 0) ?? olds.length;
    const partner = olds[at];
    if (at < end && partner && isSameSort(partner, child)) {
      at += 1;
      change(partner, child);
    } else {
      insert(old, child, olds[at] ?? null);
    }
  });
  olds.slice(at).forEach((gone) => gone.remove());
}

/** A child with an id is known by it, another element by all it is. Texts are like any other. */
function key(node: Node): Key {
  if (!(node.nodeType === Node.ELEMENT_NODE)) return undefined;
  const element = node as Element;
  return element.id ? undefined : element.outerHTML;
}

/** Whether a child may become another one. Rows about different things never do. */
function isSameSort(old: Node, wanted: Node): boolean {
  if (old.nodeName !== wanted.nodeName) return false;
  if (old.nodeType !== Node.ELEMENT_NODE) return true;
  const [one, other] = [old as Element, wanted as Element];
  return one.id === other.id && subject(one) === subject(other);
}

/** What a row or an item of a list is about: where its first link leads. */
function subject(element: Element): string | null | undefined {
  if (!element.matches("tr, li")) return undefined;
  return element.querySelector("a[href]")?.getAttribute("href");
}

function change(old: Node, wanted: Node): void {
  if (old.nodeType === Node.ELEMENT_NODE) morph(old as Element, wanted as Element);
  else if (old.nodeType === Node.TEXT_NODE) changeText(old as Text, (wanted as Text).data);
}

/** Changes a text; what grows keeps what is selected in it, and other texts wait while they are. */
function changeText(old: Text, wanted: string): void {
  if (old.data === wanted) return;
  if (wanted.startsWith(old.data)) old.appendData(wanted.slice(old.length));
  else if (!isSelected(old)) old.data = wanted;
}

function isSelected(node: Node): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(node, true);
}

function copyAttributes(old: Element, wanted: Element): void {
  // What a reader opened stays open.
  const isOwn = (name: string) => name === "open" && old.localName === "details";
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !isOwn(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value && !isOwn(name)) old.setAttribute(name, value);
  }
}

function insert(parent: Element, child: Node, before: Node | null): void {
  const added = document.importNode(child, true);
  parent.insertBefore(added, before);
  if (added instanceof HTMLTableRowElement) appear(added);
}

/** A new row is marked for a moment, if the reader has nothing against motion. */
function appear(row: HTMLTableRowElement): void {
  if (!matchMedia("(prefers-reduced-motion: no-preference)").matches) return;
  row.animate([{ backgroundColor: "var(--raised)" }, { backgroundColor: "transparent" }], 2000);
}

// How the editor looks: the colours of the page, so that it follows the theme by itself.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** What a person who uses the keyboard has to know. */
export const HINT = "Tab indents; press Escape, then Tab, to leave the editor. Ctrl+Enter (⌘+Enter) runs.";

/** How the sentence below it looks. */
export const HINT_STYLES = "p { margin: .25rem 0 0; color: var(--soft); font-size: .9375rem; }";

const FONT = "ui-monospace, monospace";

const theme = EditorView.theme({
  "&": {
    border: "1px solid var(--strong-line)",
    borderRadius: "4px",
    backgroundColor: "var(--ground)",
    color: "var(--text)",
    fontSize: ".875rem",
  },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: FONT, lineHeight: "1.5", maxHeight: "40rem", overflow: "auto" },
  ".cm-content": { minHeight: "10rem", caretColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--raised)",
    color: "var(--soft)",
    borderRight: "1px solid var(--line)",
    borderRadius: "4px 0 0 4px",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--raised)", outline: "1px solid var(--strong-line)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--bad)" },
  ".cm-tooltip": {
    border: "1px solid var(--strong-line)",
    borderRadius: "4px",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: FONT, maxWidth: "min(36rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", marginLeft: "1rem" },
  ".cm-completionInfo": { maxWidth: "20rem" },
  ".cm-line.cm-covered": { boxShadow: "inset 3px 0 var(--good)" },
  ".cm-line.cm-missed": { boxShadow: "inset 3px 0 var(--bad)" },
  ".cm-coverage": { width: "1.25rem", textAlign: "center", fontWeight: "700" },
  ".cm-coverage .covered": { color: "var(--good)" },
  ".cm-coverage .missed": { color: "var(--bad)" },
});

const words = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.bool, tags.null], color: "var(--code-word)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.escape], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.typeName], color: "var(--accent)" },
  { tag: tags.invalid, color: "var(--bad)", textDecoration: "underline" },
]);

export const look = [theme, syntaxHighlighting(words)];

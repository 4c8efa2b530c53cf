// Which lines of a policy were evaluated: the text area says it in `data-covered` and `data-missed`, after an evaluation.
// Lines have a colour, a sign beside them, and a sentence that says the same.

import { type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter } from "@codemirror/view";
import { lines, ranges, said } from "./lines";

class Sign extends GutterMarker {
  constructor(
    private readonly sign: string,
    private readonly word: string,
  ) {
    super();
  }

  override toDOM(): Node {
    const sign = document.createElement("span");
    sign.textContent = this.sign;
    sign.className = this.word;
    sign.title = this.word === "covered" ? "evaluated" : "not evaluated";
    return sign;
  }
}

const KINDS = {
  covered: { line: Decoration.line({ class: "cm-covered" }), sign: new Sign("✓", "covered") },
  missed: { line: Decoration.line({ class: "cm-missed" }), sign: new Sign("✕", "missed") },
};

interface Marks {
  lines: DecorationSet;
  signs: RangeSet<GutterMarker>;
}

/** The text is another than the one that was evaluated. */
export const otherText = StateEffect.define<null>();

/** The marks of such a text. */
const NONE: Marks = { lines: Decoration.none, signs: RangeSet.empty };

/** Colours the lines that the text area names; they move with what is typed, and go with the text. */
export function coverage(area: HTMLTextAreaElement): Extension {
  const covered = ranges(area.dataset["covered"] ?? "");
  const missed = ranges(area.dataset["missed"] ?? "");
  if (covered.length + missed.length === 0) return [];
  const field = StateField.define<Marks>({
    create: (state) => marked(state.doc, new Set(lines(covered, state.doc.lines)), lines(missed, state.doc.lines)),
    update: (marks, { docChanged, changes, effects }) => {
      if (effects.some((effect) => effect.is(otherText))) return NONE;
      return docChanged ? { lines: marks.lines.map(changes), signs: marks.signs.map(changes) } : marks;
    },
    provide: (own) => EditorView.decorations.from(own, (marks) => marks.lines),
  });
  return [field, gutter({ class: "cm-coverage", markers: (view) => view.state.field(field).signs })];
}

/** The marks of a text. A line that is in both lists was not evaluated completely. */
function marked(text: Text, covered: Set<number>, missed: number[]): Marks {
  const kinds = new Map<number, keyof typeof KINDS>();
  for (const line of covered) kinds.set(line, "covered");
  for (const line of missed) kinds.set(line, "missed");
  const decorations = new RangeSetBuilder<Decoration>();
  const signs = new RangeSetBuilder<GutterMarker>();
  for (const [line, kind] of [...kinds].sort(([one], [other]) => one - other)) {
    const { from } = text.line(line);
    decorations.add(from, from, KINDS[kind].line);
    signs.add(from, from, KINDS[kind].sign);
  }
  return { lines: decorations.finish(), signs: signs.finish() };
}

/** The same as a sentence, with a space before it; empty if nothing is known. */
export function toldCoverage(area: HTMLTextAreaElement): string {
  const covered = said(ranges(area.dataset["covered"] ?? ""));
  const missed = said(ranges(area.dataset["missed"] ?? ""));
  const sentences = [covered && ` ✓ Lines evaluated: ${covered}.`, missed && ` ✕ Lines not evaluated: ${missed}.`];
  return sentences.join("");
}

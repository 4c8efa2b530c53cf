// Lists of lines, as the server writes them: `1-3,7`.

/** From one line to another, both counted from 1 and included. */
export type Range = readonly [from: number, to: number];

/** More than any policy has. */
const MOST = 10_000;

/** Reads a list; what is malformed in it is left out. */
export function ranges(text: string): Range[] {
  const parts = text.split(",", MOST);
  return parts.flatMap((part) => {
    const found = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(part);
    const from = Number(found?.[1] ?? 0);
    const to = Number(found?.[2] ?? from);
    return found && from >= 1 && from <= to ? [[from, to] as const] : [];
  });
}

/** The lines of ranges that a text of so many lines has, each once, in order. */
export function lines(of: readonly Range[], count: number): number[] {
  const found = new Set<number>();
  for (const [from, to] of of) {
    for (let line = from; line <= Math.min(to, count); line += 1) found.add(line);
  }
  return [...found].sort((one, other) => one - other);
}

/** A list in words, to be read aloud: `1 to 3, 7`. */
export function said(of: readonly Range[]): string {
  return of.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
}

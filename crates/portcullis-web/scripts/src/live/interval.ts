// How long to wait: between two looks at a page, and after something went wrong.

/** What `data-live` says, like `5s`, in milliseconds; nothing if it is malformed. */
export function interval(text: string): number | undefined {
  const seconds = /^([1-9]\d{0,3})s$/.exec(text.trim())?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** The wait before another try after so many failures in a row: doubled each time up to a minute, and up to a half
 * longer by chance, so that many browsers don't come back at once. */
export function backOff(failures: number, chance: number): number {
  const seconds = Math.min(2 ** Math.max(failures - 1, 0), 60);
  return Math.round(seconds * 1000 * (1 + chance / 2));
}

/** So many milliseconds in words. */
export function seconds(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds / 1000))} s`;
}

// Which children of an element stay when it gets new ones. Those that stay are not touched, so that they keep focus,
// selection and scroll position.

/** What a child is known by; nothing if it is like any other of its sort. */
export type Key = string | undefined;

/** For each new child, the place of the old one that is the same; -1 for those that are new. The order of those that stay
 * never changes, because a node that moves loses focus. */
export function matched(olds: readonly Key[], news: readonly Key[]): number[] {
  const places = new Map<string, number[]>();
  olds.forEach((key, place) => {
    if (key === undefined) return;
    const known = places.get(key);
    if (known) known.push(place);
    else places.set(key, [place]);
  });
  let next = 0;
  return news.map((key) => {
    const found = key === undefined ? undefined : places.get(key)?.find((place) => place >= next);
    if (found === undefined) return -1;
    next = found + 1;
    return found;
  });
}

// What a policy can name at a place in its text: the globals, or what a value has.

/** Something with a name. */
export interface Member {
  label: string;
  kind: "function" | "method" | "property" | "variable";
  /** Its type. */
  detail: string;
  /** What it is for. */
  info?: string;
  /** The type of what it has, if that is known. */
  type?: string;
}

/** What policies can use, as `build.mjs` reads it from `portcullis.d.ts`. */
export interface Api {
  globals: Member[];
  types: Record<string, Member[]>;
}

/** What fits a text that ends at the cursor, and how much of its end is the beginning of it. */
export interface Fitting {
  typed: number;
  members: Member[];
}

/** A path like `req.userInfo.`, and what is typed of the next name. */
const PATH = /(?:^|[^\w$.])((?:[A-Za-z_$][\w$]*\??\.)*)([\w$]*)$/;

/** What fits; nothing if no one knows, or if nothing was typed and it was not asked for. */
export function fitting(before: string, api: Api, isAsked: boolean): Fitting | undefined {
  const found = PATH.exec(before);
  if (!found) return undefined;
  const names = (found[1] ?? "").split(/\??\./).slice(0, -1);
  const typed = found[2] ?? "";
  if (names.length === 0 && typed === "" && !isAsked) return undefined;
  let members: Member[] | undefined = api.globals;
  for (const name of names) {
    const type: string | undefined = members?.find((member) => member.label === name)?.type;
    members = type === undefined ? undefined : api.types[type];
  }
  return members && members.length > 0 ? { typed: typed.length, members } : undefined;
}

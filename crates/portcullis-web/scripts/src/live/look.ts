// Asks for the page again, in the name of the person who looks.

/** What came of it. */
export type Look =
  | { kind: "page"; page: Document }
  /** There will be no other answer: why. */
  | { kind: "over"; why: string }
  /** It may work later. */
  | { kind: "failed" };

/** How long an answer may take. */
const TIMEOUT = 20_000;

/** Asks for this page, with its query. */
export async function look(): Promise<Look> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(location.pathname + location.search, {
      headers: { accept: "text/html" },
      credentials: "same-origin",
      cache: "no-store",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    text = answer.ok ? await answer.text() : "";
  } catch {
    return { kind: "failed" };
  }
  const why = over(answer.type === "opaqueredirect" ? 401 : answer.status);
  if (why !== undefined) return { kind: "over", why };
  if (!answer.ok) return { kind: "failed" };
  return { kind: "page", page: new DOMParser().parseFromString(text, "text/html") };
}

/** Why a page with this status is not asked for again. A page that needs a session leads elsewhere without one. */
export function over(status: number): string | undefined {
  switch (status) {
    case 401:
      return "your session has ended";
    case 403:
      return "you may not see this page any more";
    case 404:
    case 410:
      return "it does not exist any more";
    default:
      return undefined;
  }
}

// Server-sent events that say that something is new. What is new is read from the page.

/** What a stream tells. */
export interface Listener {
  opened(): void;
  /** So much is new; one thing has an id. */
  news(count: number, id: string): void;
  /** The server ended it, and says why. */
  ended(why: string): void;
  /** The connection was lost, or there never was one. */
  lost(): void;
}

/** An open stream. */
export class Stream {
  private readonly source: EventSource;

  constructor(path: string, listener: Listener) {
    this.source = new EventSource(path);
    this.source.addEventListener("open", () => listener.opened());
    this.source.addEventListener("decision", (event) => listener.news(1, event.lastEventId));
    this.source.addEventListener("missed", (event) => listener.news(missed(event.data), ""));
    this.source.addEventListener("end", (event) => {
      this.close();
      listener.ended(reason(event.data));
    });
    this.source.addEventListener("error", () => {
      // The browser would come back at the same pace forever, and does not say what went wrong.
      this.close();
      listener.lost();
    });
  }

  close(): void {
    this.source.close();
  }
}

/** How much was missed; at least something was. */
export function missed(data: unknown): number {
  const count = member(data, "count");
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 1;
}

/** Why a stream ended, as part of a sentence. */
export function reason(data: unknown): string {
  const message = member(data, "message");
  return typeof message === "string" && message !== "" ? message : "the server ended them";
}

function member(data: unknown, name: string): unknown {
  if (typeof data !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
  } catch {
    return undefined;
  }
}

// Keeps parts of a page up to date: elements with an id and `data-live="5s"` by asking for the page again, those with
// `data-live-stream="/path"` when a stream of events says that something is new.
//
// A person can pause it for the tab. Pages that are hidden ask for nothing.

import { Bar } from "./live/bar";
import { backOff, interval, seconds } from "./live/interval";
import { look } from "./live/look";
import { Stream } from "./live/stream";
import { isShown, liveElements, tails, toEnd, update } from "./live/update";

/** Where the choice of the tab is kept. */
const KEY = "portcullis-live";

/** The least time between two updates that a stream asks for. */
const LEAST = 1000;

/** A stream that was open for so long worked. */
const LASTED = 10_000;

class Live {
  private readonly bar: Bar;
  private isPaused = stored() === "paused";
  private isOver = false;
  private isLooking = false;
  /** Looks that failed in a row. */
  private failures = 0;
  /** Streams in a row that were lost before they lasted. */
  private lost = 0;
  private openedAt = Infinity;
  /** What the stream told since the last look. */
  private news = 0;
  private lastLook = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stream: Stream | undefined;

  constructor(host: HTMLElement) {
    this.bar = new Bar(host, () => this.toggle(), () => void this.refresh(true));
    tails(document).forEach(toEnd);
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.sleep();
      else this.wake();
    });
    addEventListener("pagehide", () => this.sleep());
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.wake();
    });
    if (!document.hidden) this.begin();
  }

  private toggle(): void {
    this.isPaused = !this.isPaused;
    store(this.isPaused ? "paused" : "");
    if (this.isPaused) {
      // What came up to now is shown, what comes from now on is counted.
      this.news = 0;
      this.begin();
      void this.refresh(true);
    } else {
      void this.refresh();
    }
  }

  private wake(): void {
    if (this.isPaused) this.begin();
    else void this.refresh();
  }

  private sleep(): void {
    clearTimeout(this.timer);
    this.stream?.close();
    this.stream = undefined;
  }

  /** Waits for what is to be done next, and says how it goes. */
  private begin(): void {
    clearTimeout(this.timer);
    if (this.isOver || document.hidden) return;
    const elements = liveElements();
    const path = elements.map((element) => element.dataset["liveStream"]).find((stream) => stream);
    const periods = elements.map((element) => interval(element.dataset["live"] ?? ""));
    const known = periods.filter((period) => period !== undefined);
    if (path === undefined && known.length === 0) {
      this.isOver = true;
      this.bar.finish();
      return;
    }
    if (path !== undefined && !this.stream) this.follow(path);
    const period = Math.min(...known);
    this.bar.say(this.isPaused, this.isPaused ? "Updates are paused." : sentence(path, period));
    if (!this.isPaused && known.length > 0) this.timer = setTimeout(() => void this.refresh(), period);
  }

  /** Tries again after a while that gets longer. */
  private later(): void {
    clearTimeout(this.timer);
    if (document.hidden) return;
    const wait = backOff(Math.max(this.failures, this.lost), Math.random());
    this.bar.say(this.isPaused, `No connection to the server; next try in ${seconds(wait)}.`);
    this.timer = setTimeout(() => void this.refresh(), wait);
  }

  private follow(path: string): void {
    this.openedAt = Infinity;
    this.stream = new Stream(path, {
      opened: () => {
        this.openedAt = performance.now();
        // What came between the page and the stream.
        if (!this.isPaused) this.soon();
      },
      news: (count, id) => {
        if (isShown(id)) return;
        this.news += count;
        this.soon();
      },
      ended: (why) => this.end(why),
      lost: () => {
        this.stream = undefined;
        this.lost = performance.now() - this.openedAt > LASTED ? 1 : this.lost + 1;
        this.later();
      },
    });
  }

  /** Something is new: shows it within a second, or counts it. */
  private soon(): void {
    if (this.isPaused) {
      this.bar.news(counted(this.news, noun()));
      return;
    }
    if (this.isLooking) return; // it looks again afterwards
    clearTimeout(this.timer);
    const wait = this.lastLook + LEAST - performance.now();
    this.timer = setTimeout(() => void this.refresh(), Math.max(wait, 0));
  }

  /** Looks at the page, and shows it unless updates are paused and it was not asked for. */
  private async refresh(isAsked = false): Promise<void> {
    if (this.isOver || this.isLooking || document.hidden) return;
    clearTimeout(this.timer);
    this.isLooking = true;
    this.lastLook = performance.now();
    const before = this.news;
    const seen = await look();
    this.isLooking = false;
    if (seen.kind === "over") {
      this.end(seen.why);
      return;
    }
    if (seen.kind === "failed") {
      this.failures += 1;
      this.later();
      return;
    }
    this.failures = 0;
    if (!this.isPaused || isAsked) {
      update(seen.page);
      this.news -= before;
      this.bar.news("");
    }
    this.begin();
    if (this.news > 0) this.soon();
  }

  private end(why: string): void {
    this.sleep();
    this.isOver = true;
    this.bar.end(`Live updates stopped: ${why}.`);
  }
}

function sentence(path: string | undefined, period: number): string {
  return path === undefined ? `Updated every ${seconds(period)}.` : "Live";
}

/** What the elements of a stream call one of what is new. */
function noun(): string {
  return liveElements().find((element) => element.dataset["liveNoun"])?.dataset["liveNoun"] ?? "change";
}

function counted(count: number, one: string): string {
  return count === 1 ? `1 new ${one}` : `${count} new ${one}s`;
}

function stored(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // storage is off
  }
}

function store(choice: string): void {
  try {
    sessionStorage.setItem(KEY, choice);
  } catch {
    // It lasts as long as the page.
  }
}

const host = document.getElementById("live-bar");
if (host) new Live(host);

import assert from "node:assert/strict";
import test from "node:test";
import { backOff, interval, seconds } from "../src/live/interval";

test("an interval is a whole number of seconds", () => {
  assert.equal(interval("5s"), 5000);
  assert.equal(interval(" 60s "), 60_000);
  for (const text of ["", "0s", "-1s", "5", "1.5s", "5m", "99999s", "5s;"]) assert.equal(interval(text), undefined, text);
});

test("the wait doubles up to a minute, and is never the same for all", () => {
  assert.deepEqual([1, 2, 3, 4].map((failures) => backOff(failures, 0)), [1000, 2000, 4000, 8000]);
  assert.equal(backOff(1000, 0), 60_000);
  assert.equal(backOff(1, 1), 1500);
  assert.ok(backOff(0, 0) > 0);
});

test("a wait is said in seconds, and never as none", () => {
  assert.equal(seconds(1499), "1 s");
  assert.equal(seconds(1), "1 s");
  assert.equal(seconds(60_000), "60 s");
});

import assert from "node:assert/strict";
import test from "node:test";
import { matched } from "../src/live/match";

test("rows stay when one comes before them and one goes at the end", () => {
  assert.deepEqual(matched(["a", "b", "c"], ["n", "a", "b"]), [-1, 0, 1]);
  assert.deepEqual(matched(["a", "b", "c"], ["b", "c"]), [1, 2]);
});

test("what stays never changes its order", () => {
  assert.deepEqual(matched(["a", "b", "c"], ["c", "a", "b"]), [2, -1, -1]);
});

test("equal rows are told apart by their place", () => {
  assert.deepEqual(matched(["a", "a"], ["a", "a", "a"]), [0, 1, -1]);
});

test("what has no key is matched with nothing", () => {
  assert.deepEqual(matched([undefined, "a", undefined], [undefined, "a"]), [-1, 1]);
  assert.deepEqual(matched([], [undefined, "a"]), [-1, -1]);
});

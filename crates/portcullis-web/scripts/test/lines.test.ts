import assert from "node:assert/strict";
import test from "node:test";
import { lines, ranges, said } from "../src/editor/lines";

test("lists have lines and ranges, and what is malformed is left out", () => {
  assert.deepEqual(ranges("1-3,7"), [[1, 3], [7, 7]]);
  assert.deepEqual(ranges(""), []);
  assert.deepEqual(ranges("0,3-1,x,-1,1-,5,99999999"), [[5, 5]]);
});

test("lines are those that the text has", () => {
  assert.deepEqual(lines(ranges("2-999999,1,2"), 4), [1, 2, 3, 4]);
  assert.deepEqual(lines(ranges("9"), 4), []);
});

test("ranges are read aloud", () => {
  assert.equal(said(ranges("1-3,7")), "1 to 3, 7");
});

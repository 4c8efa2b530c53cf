import assert from "node:assert/strict";
import test from "node:test";
import { over } from "../src/live/look";
import { missed, reason } from "../src/live/stream";

test("at least something was missed", () => {
  assert.equal(missed('{"count":7}'), 7);
  for (const data of ["", "{", "null", "7", '{"count":0}', '{"count":-3}', '{"count":1e300}', '{"count":"7"}', undefined]) {
    assert.equal(missed(data), 1, String(data));
  }
});

test("the server says why a stream ended", () => {
  assert.equal(reason('{"code":"unauthorized","message":"the token expired"}'), "the token expired");
  for (const data of ["", "null", "[]", '{"message":7}', '{"message":""}']) {
    assert.equal(reason(data), "the server ended them", data);
  }
});

test("only what cannot get better ends the updates", () => {
  for (const status of [401, 403, 404, 410]) assert.ok(over(status), String(status));
  for (const status of [200, 0, 408, 429, 500, 503]) assert.equal(over(status), undefined, String(status));
});

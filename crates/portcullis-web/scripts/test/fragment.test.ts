import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { decode, encode, type Field, LONGEST, LinkError } from "../src/editor/fragment";

const link = (text: string | Buffer) => deflateSync(text).toString("base64url");

test("a link has what was in the form", async () => {
  const fields: Field[] = [["policy", "deny(`é 漢 \u{1f600}`);\n"], ["user", ""], ["groups", "a, b"]];
  const text = await encode(fields);
  assert.match(text, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(await decode(text), fields);
});

test("a malformed link is an error that says so", async () => {
  const good = await encode([["policy", "x".repeat(1000)]]);
  for (const text of [
    "", "%20", "a.b", "AAAA", good.slice(0, -4), `${good.slice(0, 8)}AAAA${good.slice(12)}`,
    link("{"), link(""), link(Buffer.from([0xff, 0xfe])),
  ]) {
    await assert.rejects(decode(text), LinkError, text);
  }
});

test("a link of another kind is an error", async () => {
  for (const value of [null, {}, 7, "x", [["a"]], [["a", 7]], [["a", "b", "c"]], ["a"], Array(65).fill(["a", "b"])]) {
    await assert.rejects(decode(link(JSON.stringify(value))), /another kind/, JSON.stringify(value));
  }
});

test("a link cannot stand for more than memory has", async () => {
  const bomb = link(Buffer.alloc(40_000_000, 0x20));
  assert.ok(bomb.length < LONGEST, String(bomb.length));
  await assert.rejects(decode(bomb), /too much text/);
  await assert.rejects(decode("A".repeat(LONGEST + 1)), /too long/);
});

test("what is too large for a link is not shared", async () => {
  let noise = "";
  for (let seed = 1; noise.length < 200_000; seed = (seed * 48271) % 2147483647) noise += seed.toString(36);
  await assert.rejects(encode([["policy", noise]]), /too large/);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { policyApi } from "../api.mjs";
import { type Api, fitting } from "../src/editor/members";

const api = JSON.parse(readFileSync("src/editor/policy-api.json", "utf8")) as Api;
const labels = (before: string, isAsked = false) => fitting(before, api, isAsked)?.members.map((member) => member.label) ?? [];

test("the globals of policies are offered, those of tests are not", () => {
  const globals = labels("den");
  for (const name of ["object", "oldObject", "req", "ac", "allow", "deny", "warn", "cosignVerify", "request", "mutate", "print", "exit"]) {
    assert.ok(globals.includes(name), name);
  }
  for (const name of ["test", "expect", "review"]) assert.ok(!globals.includes(name), name);
  assert.deepEqual(labels("  "), []);
  assert.ok(labels("  ", true).includes("req"));
});

test("members are those of the type, as deep as types go", () => {
  assert.ok(labels("if (req.").includes("userInfo"));
  assert.ok(labels("req?.userInfo.gr").includes("groups"));
  assert.ok(labels("!object.metadata.").includes("labels"));
  assert.ok(labels("req.object.metadata.").includes("namespace"));
  assert.ok(labels("ac.HTTPRequest.URL.").includes("RawQuery"));
  assert.deepEqual(labels("kube."), ["get", "list"]);
  assert.deepEqual(labels("req.requestKind.").slice(0, 3), ["group", "version", "kind"]);
});

test("nothing is made up", () => {
  for (const before of ["req.nothing.", "other.", "x.req.", "req.name.", "object.spec.", "1.", "deny.", "constructor.", "req.__proto__."]) {
    assert.deepEqual(labels(before), [], before);
  }
});

test("what is typed of a name is replaced", () => {
  assert.equal(fitting("req.userInfo.gro", api, false)?.typed, 3);
  assert.equal(fitting("req.", api, false)?.typed, 0);
});

test("entries say their type and what they are for", () => {
  const member = (before: string, label: string) => fitting(before, api, false)?.members.find((one) => one.label === label);
  assert.equal(member("d", "deny")?.detail, "(message: string, reason?: string, code?: number): never");
  assert.match(member("d", "deny")?.info ?? "", /request is denied/);
  assert.match(member("o", "oldObject")?.info ?? "", /null on CREATE/);
  assert.equal(member("req.", "dryRun")?.detail, "boolean");
});

test("declarations without the part of tests are an error, not everything", () => {
  assert.throws(() => policyApi("declare const req: any;"), /tests/);
});

// Tests in TypeScript: of helpers alone, and of the whole chain with `review`.
import { groupOf, reachesProduction } from "../policies/lib/jobs.ts";

test("production is known by its tags", () => {
  expect(reachesProduction({ tags: ["docker", "production"] })).toBe(true);
  expect(reachesProduction({ tags: ["docker"] })).toBe(false);
  expect(groupOf("shop/web")).toBe("shop");
});

test("a protected branch may deploy", () => {
  const job = {
    apiVersion: "ci.portcullis.dev/v1",
    kind: "Job",
    metadata: { name: "deploy" },
    project: "shop/web",
    ref: "main",
    ref_protected: true,
    tags: ["production"],
  };
  expect(review(job).allowed).toBe(true);
  expect(review({ ...job, ref_protected: false }).policy).toBe("protected-production");
});

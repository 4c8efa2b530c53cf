// Tests in TypeScript: of helpers alone, and of the whole chain with `review`.
import { isPinned, tagOf } from "../policies/lib/pods.ts";

describe("images", () => {
  test("tags are found", () => {
    expect(tagOf("nginx:1.27")).toBe("1.27");
    expect(tagOf("registry.example:5000/nginx")).toBeUndefined();
    expect(tagOf("registry.example:5000/nginx:1.27@sha256:0a1b")).toBe("1.27");
  });

  test("latest is not a version", () => {
    expect(isPinned("nginx")).toBeFalsy();
    expect(isPinned("nginx:latest")).toBe(false);
    expect(isPinned("nginx@sha256:0a1b")).toBe(true);
  });
});

test("every container counts", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web" },
    spec: {
      initContainers: [{ name: "setup", image: "setup" }],
      containers: [{ name: "web", image: "web:1", resources: { limits: { memory: "64Mi" } } }],
    },
  };
  const answer = review(pod, { user: "ann", namespace: "shop" });
  expect(answer.allowed).toBe(false);
  expect(answer.policy).toBe("image-tags");
  expect(answer.message).toMatch(/container setup/);

  pod.spec.initContainers[0].image = "setup:3";
  const second = review(pod, { user: "ann" });
  expect(second.message).toBe("");
  expect(second.object.metadata.labels).toEqual({ owner: "ann" });
});

export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Images come from one registry.",
  severity: "high",
};

export default function () {
  const { initContainers = [], containers, ephemeralContainers = [] } = object.spec;
  for (const { name, image } of [...initContainers, ...containers, ...ephemeralContainers]) {
    if (!image.startsWith("registry.example/")) return `${name}: ${image} is not from registry.example`;
  }
}

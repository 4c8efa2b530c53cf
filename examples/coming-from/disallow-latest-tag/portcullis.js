export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Images name a version.",
  severity: "medium",
};

export default function () {
  const { initContainers = [], containers, ephemeralContainers = [] } = object.spec;
  for (const { name, image } of [...initContainers, ...containers, ...ephemeralContainers]) {
    const [, tag] = /:([^:/@]+)(?:@.*)?$/.exec(image) ?? [];
    if (image.includes("@")) continue;
    if (tag === undefined || tag === "latest") return `${name}: name a version of the image ${image}`;
  }
}

if (object.kind !== "Pod") return
const { initContainers = [], containers, ephemeralContainers = [] } = object.spec
for (const { name, image } of [...initContainers, ...containers, ...ephemeralContainers])
  if (!image.startsWith("registry.example/")) return `${name}: images come from registry.example`

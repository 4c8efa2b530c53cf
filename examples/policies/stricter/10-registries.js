if (object.kind !== "Pod") return
for (const { name, image } of object.spec.containers)
  if (!image.startsWith("registry.example/")) return `${name}: images come from registry.example`

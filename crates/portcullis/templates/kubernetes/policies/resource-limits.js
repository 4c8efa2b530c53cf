// The short form of a policy: the body of a function, asked about every object.
// Return a text to deny the object, or nothing to have no opinion.
if (req.operation === "DELETE" || object.kind !== "Pod") return

for (const container of object.spec.containers) {
  if (!container.resources?.limits?.memory) return `container ${container.name} has no memory limit`
}

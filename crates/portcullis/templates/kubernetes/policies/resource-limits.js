// The short form of a policy: the body of a function, asked about every object.
// It returns text to refuse, and nothing to leave it to others.
if (req.operation === "DELETE" || object.kind !== "Pod") return

for (const container of object.spec.containers) {
  if (!container.resources?.limits?.memory) return `container ${container.name} has no memory limit`
}

export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Containers have liveness and readiness probes.",
  severity: "low",
};

export default function () {
  for (const container of object.spec.containers) {
    for (const probe of ["livenessProbe", "readinessProbe"]) {
      if (!container[probe]) return `${container.name}: the ${probe} is missing`;
    }
  }
}

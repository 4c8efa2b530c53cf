export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Containers do not run as root.",
  severity: "high",
};

export default function () {
  const { initContainers = [], containers, ephemeralContainers = [], securityContext: pod } = object.spec;
  for (const { name, securityContext: own } of [...initContainers, ...containers, ...ephemeralContainers]) {
    if (!(own?.runAsNonRoot ?? pod?.runAsNonRoot)) return `${name}: runAsNonRoot is required`;
  }
}

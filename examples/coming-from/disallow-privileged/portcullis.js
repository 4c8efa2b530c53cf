export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Containers are not privileged.",
  severity: "critical",
};

export default function () {
  const { initContainers = [], containers, ephemeralContainers = [] } = object.spec;
  for (const { name, securityContext } of [...initContainers, ...containers, ...ephemeralContainers]) {
    if (securityContext?.privileged) return `${name}: privileged containers are not allowed`;
  }
}

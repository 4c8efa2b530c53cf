export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Containers drop all capabilities.",
  severity: "medium",
};

export default function () {
  const { initContainers = [], containers, ephemeralContainers = [] } = object.spec;
  for (const { name, securityContext } of [...initContainers, ...containers, ...ephemeralContainers]) {
    if (!securityContext?.capabilities?.drop?.includes("ALL")) return `${name}: drop ALL capabilities`;
  }
}

export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Containers request cpu and memory, and limit memory.",
  severity: "medium",
};

export default function () {
  for (const { name, resources } of object.spec.containers) {
    if (!resources?.requests?.cpu || !resources.requests.memory) return `${name}: requests of cpu and memory are missing`;
    if (!resources.limits?.memory) return `${name}: the limit of memory is missing`;
  }
}

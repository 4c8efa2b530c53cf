export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE"] },
  description: "Pods have a team, and images are pulled at every start.",
  severity: "low",
};

export default function () {
  object.metadata.labels ??= {};
  object.metadata.labels.team ??= "unknown";
  for (const container of object.spec.containers) container.imagePullPolicy = "Always";
}

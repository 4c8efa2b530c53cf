export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Every pod has the label team.",
  severity: "low",
};

export default function () {
  if (!object.metadata.labels?.team) return "the label team is missing";
}

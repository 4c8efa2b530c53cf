export const policy = {
  match: { kinds: ["Pod"], namespaces: ["default"], operations: ["CREATE", "UPDATE"] },
  description: "Nothing runs in the namespace default.",
  severity: "low",
};

export default function () {
  return "choose another namespace than default";
}

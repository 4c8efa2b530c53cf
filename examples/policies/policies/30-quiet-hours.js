export const policy = {
  match: { kinds: ["apps/Deployment"], operations: ["DELETE"], namespaces: ["prod-*"] },
  mode: "dry-run",
};

export default function () {
  const hour = new Date(ac.Timestamp).getUTCHours();
  if (hour < 6) return `nothing is deleted at night: ${oldObject.metadata.name}`;
}

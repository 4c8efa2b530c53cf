export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Pods do not mount folders of the host.",
  severity: "high",
};

export default function () {
  const found = object.spec.volumes?.find((volume) => volume.hostPath);
  if (found) return `volume ${found.name}: hostPath is not allowed`;
}

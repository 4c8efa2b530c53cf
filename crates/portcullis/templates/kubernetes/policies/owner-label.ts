export const policy: Policy = {
  description: "The creator of an object becomes its owner, unless the manifest names one.",
  match: { operations: ["CREATE"], kinds: ["Pod", "apps/Deployment", "v1/ConfigMap"] },
};

export default function (): PolicyVerdict {
  const labels = (object.metadata.labels ??= {});
  if (labels.owner === undefined) {
    // A label has no `@` and no `:`.
    labels.owner = req.userInfo.username.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 63);
    warn(`no label owner: taken from your name, ${labels.owner}`);
  }
}

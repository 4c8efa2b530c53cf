export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Pods do not use the namespaces of the host.",
  severity: "high",
};

export default function () {
  for (const name of ["hostNetwork", "hostPID", "hostIPC"]) {
    if (object.spec[name]) return `${name} is not allowed`;
  }
}

export const policy = {
  match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] },
  description: "Pods have namespaces of their own.",
  severity: "high",
};

export default function () {
  for (const name of ["hostNetwork", "hostPID", "hostIPC"]) {
    if (object.spec[name]) return `${name} is not allowed`;
  }
}

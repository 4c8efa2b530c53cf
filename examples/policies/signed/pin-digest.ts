// Images must be signed with the key, and are named by the digest that was verified: the tag may move
// between now and the moment a node pulls the image. Changes need a mutating webhook (/mutate).
export const policy = {
  match: {
    kinds: ["Pod", "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "apps/DaemonSet", "batch/Job", "batch/CronJob"],
    operations: ["CREATE", "UPDATE"],
  },
};

export default function () {
  pinDigests(object, cosignVerify("/etc/portcullis/cosign.pub"));
}

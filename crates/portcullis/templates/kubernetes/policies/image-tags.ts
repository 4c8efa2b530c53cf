import { containers, isPinned } from "./lib/pods.ts";

export const policy: Policy = {
  description: "Images must name a version, so that what runs tomorrow is what was tested today.",
  match: {
    operations: ["CREATE", "UPDATE"],
    kinds: ["Pod", "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "batch/Job", "batch/CronJob"],
  },
};

export default function (): PolicyVerdict {
  for (const { name, image } of containers(object)) {
    if (!isPinned(image)) {
      deny(`container ${name}: ${image} may be another image tomorrow: name a version`);
    }
  }
}

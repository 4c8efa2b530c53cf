// Only protected branches and tags reach production.
import { reachesProduction, type Job } from "./lib/jobs.ts";

export const policy: Policy = { match: { doors: ["ci"] } };

export default function (): PolicyVerdict {
  const job = object as Job;
  if (reachesProduction(job) && !job.ref_protected) {
    deny(`${job.ref} is not protected, so it can't run on ${job.tags.join(", ")}`);
  }
}

// Jobs that name no runner go to the runners of their group.
import { groupOf, type Job } from "./lib/jobs.ts";

export const policy: Policy = { match: { doors: ["ci"] } };

export default function (): PolicyVerdict {
  const job = object as Job;
  if (job.tags.length === 0) job.tags.push(`group-${groupOf(job.project)}`);
}

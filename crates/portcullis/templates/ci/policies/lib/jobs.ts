// Helpers for policies about CI jobs. Files in lib/ are imported; they are no policies themselves.

/** A CI job as policies see it. */
export interface Job extends PolicyObject {
  id: number;
  attempt: number;
  project: string;
  ref: string;
  ref_protected: boolean;
  source: string;
  user: { id: number; username: string };
  tags: string[];
  original_tags: string[];
  variables: Record<string, string>;
  runners: { accepted_ids: number[]; rejected_ids: number[] };
}

/** Tags of runners that reach production. */
export const PRODUCTION = ["production", "prod-net"];

/** Whether a job asks for a runner that reaches production. */
export function reachesProduction(job: Pick<Job, "tags">): boolean {
  return job.tags.some((tag) => PRODUCTION.includes(tag));
}

/** `shop` of `shop/web`: the group a project is in. */
export function groupOf(project: string): string {
  return project.split("/")[0];
}

// Only listed projects run on the secure runners. The tags stay as they are; other jobs are denied with a reason.
export const policy = { match: { doors: ["ci"] }, description: "Only listed projects run on secure runners" };

const ALLOWED = ["bank/ledger", "bank/payments"];

export default function () {
  if (object.tags.includes("secure") && !ALLOWED.includes(object.project)) {
    return `${object.project} is not on the list of projects for secure runners`;
  }
}

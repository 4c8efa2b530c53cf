// Jobs run in the zone of their user. A job that names no zone is sent there instead of failing.
export const policy = { match: { doors: ["ci"] }, description: "Send jobs to the zone of their user" };

const ZONES = { zone_a: ["ann", "bob"], zone_b: ["cleo"] };

export default function () {
  if (object.tags.some((tag) => tag.startsWith("zone_"))) return;
  for (const [zone, users] of Object.entries(ZONES)) {
    if (users.includes(object.user.username)) object.tags.push(zone);
  }
}

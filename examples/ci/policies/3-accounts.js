// Some runners are hosts on which a user needs an account. A job never runs on a host where its user has none; all
// other runners stay available.
export const policy = { match: { doors: ["ci"] }, description: "Keep jobs off hosts where the user has no account" };

const ACCOUNTS = { 101: ["ann"], 102: ["ann", "bob"], 103: [] };

export default function () {
  for (const [runner, users] of Object.entries(ACCOUNTS)) {
    if (!users.includes(object.user.username)) object.runners.rejected_ids.push(runner);
  }
}

// Every page in every state that looks different.

/** `name`, `path`, and if they aren't the usual ones, `person` (nobody: null) and `status`. */
export function pages({ jobs, controllers, runners, decisions, ...it }) {
  const job = ([state, id]) => ({ name: `job-${state}`, path: `/jobs/${id}` });
  const decision = ([door, id]) => ({ name: `decision-${door}`, path: `/decisions/${id}` });
  return [
    { name: 'sign-in', path: '/sign-in', person: null },
    { name: 'overview', path: '/' },
    { name: 'overview-member', path: '/', person: 'max' },
    { name: 'decisions', path: '/decisions' },
    { name: 'decisions-filtered', path: '/decisions?verdict=deny&door=kubernetes&user=dev%40corp&since=24h' },
    { name: 'decisions-empty', path: '/decisions?user=unknown' },
    ...Object.entries(decisions).map(decision),
    { name: 'replay', path: `/decisions/${decisions.denied}/replay` },
    { name: 'policies', path: '/policies' },
    { name: 'policy', path: '/policies/pinned-images' },
    { name: 'playground-off', path: '/playground', status: 404 },
    { name: 'candidate-set-off', path: '/replay', status: 404 },
    { name: 'jobs', path: '/jobs' },
    { name: 'jobs-filtered', path: '/jobs?status=failed&project=shop%2Fweb' },
    { name: 'jobs-empty', path: '/jobs?project=unknown' },
    ...Object.entries(jobs).map(job),
    { name: 'job-member', path: `/jobs/${jobs.preparing}`, person: 'max' },
    { name: 'pipeline', path: `/pipelines/${it.waiting}` },
    { name: 'pipeline-failed', path: `/pipelines/${it.broken}` },
    { name: 'runners', path: '/runners' },
    { name: 'runners-of-job', path: `/runners?job=${jobs.stuck}` },
    { name: 'runner', path: `/runners/${runners.linux.id}` },
    { name: 'runner-paused', path: `/runners/${runners.gpu.id}`, person: 'rita' },
    { name: 'tenants', path: '/tenants' },
    { name: 'tenant', path: '/tenants/shop' },
    { name: 'projects', path: '/tenants/shop/projects' },
    { name: 'tenant-paused', path: '/tenants/plant', person: 'rita' },
    { name: 'graph', path: '/graph' },
    { name: 'graph-search', path: '/graph?search=line' },
    { name: 'graph-search-nothing', path: '/graph?search=nothing+like+this' },
    { name: 'graph-vertex', path: '/graph?vertex=Line%3Adairy%2Fcups' },
    { name: 'graph-path', path: '/graph?from=ConfigMap%3Arecipes%2Fferment&to=Site%3Asouth' },
    { name: 'graph-no-path', path: '/graph?from=ConfigMap%3Arecipes%2Fpasteurize&to=Site%3Asouth' },
    { name: 'graph-unknown', path: '/graph?vertex=Line%3Adairy%2Fnone', status: 404 },
    { name: 'roles', path: '/roles' },
    { name: 'roles-checked', path: '/roles?permission=retry-job&tenant=shop&project=shop%2Fweb&ref=main', person: 'max' },
    { name: 'roles-of-others', path: `/roles?permission=retry-job&tenant=shop&project=shop%2Fweb&claims=${encodeURIComponent('{"sub": "x", "groups": ["shop-team"]}')}` },
    { name: 'roles-of-others-forbidden', path: '/roles?permission=read&tenant=shop&claims=%7B%7D', person: 'max', status: 403 },
    { name: 'controllers', path: '/controllers' },
    ...Object.entries(controllers).map(([name, { id }]) => ({ name: `controller-${name}`, path: `/controllers/${id}` })),
    { name: 'exemptions', path: '/exemptions' },
    { name: 'exemptions-reader', path: '/exemptions', person: 'rita' },
    { name: 'status', path: '/status' },
    { name: 'ask-cancel', path: `/jobs/${jobs.pending}/cancel` },
    { name: 'ask-disable', path: `/controllers/${controllers.zones.id}/disable` },
    { name: 'ask-delete-runner', path: `/runners/${runners.linux.id}/delete` },
    { name: 'ask-revoke', path: `/exemptions/${it.exemption}/revoke` },
    { name: 'ask-release', path: `/tenants/shop/holds/${it.hold}/release` },
    { name: 'ask-dequeue', path: '/tenants/shop/dequeue?project=shop%2Fweb&pipeline=check&change=12%2C1' },
    { name: 'bad-request', path: '/decisions?verdict=maybe', status: 400 },
    { name: 'forbidden', path: '/decisions', person: 'nina', status: 403 },
    { name: 'not-found', path: '/jobs/999999', status: 404 },
    { name: 'no-such-page', path: '/nowhere', status: 404 },
  ];
}

/** A decision of each door. */
export async function decisionsOf(world) {
  return {
    denied: await world.decision('verdict=deny&door=kubernetes&user=dev%40corp'),
    changed: await world.decision('verdict=allow&door=kubernetes'),
    authorization: await world.decision('door=authorization&verdict=allow'),
    'authorization-denied': await world.decision('door=authorization&verdict=deny'),
    ci: await world.decision('door=ci&verdict=deny'),
    api: await world.decision('door=api&verdict=deny'),
  };
}

// A server with something on every page: decisions of all doors, jobs in all states, controllers of all kinds.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { admit, authorize, pod } from './kubernetes.mjs';
import { until } from './process.mjs';
import { register } from './runner.mjs';
import { Server } from './server.mjs';
import { startWebhook } from './webhook.mjs';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

/** Of all long texts of the world this is the longest that can't be broken at a space. */
const LONG = 'registry.example.org/platform/services/payments-reconciliation-worker-with-a-long-name:latest';

const POLICIES = [
  {
    name: 'pinned-images',
    description: 'Images name a version, so that a restart runs the same program.',
    match: { kinds: ['Pod'], operations: ['CREATE', 'UPDATE'] },
    code: `for (const {name, image} of object.spec.containers) {
  if (!/:(?!latest$)[\\w.-]+$/.test(image)) {
    deny(\`\${name} runs \${image}: name a version\`)
  }
}
`,
  },
  {
    name: 'team-label',
    description: 'Pods without a team belong to the platform team.',
    match: { kinds: ['Pod'], operations: ['CREATE'] },
    code: "object.metadata.labels ??= {}\nobject.metadata.labels.team ??= 'platform'\n",
  },
  {
    name: 'small-names',
    mode: 'warn',
    match: { kinds: ['Pod'] },
    code: "if (object.metadata.name.length > 12) deny('names longer than 12 characters are hard to read in lists')\n",
  },
  {
    name: 'protected-releases',
    description: 'Releases run on protected refs.',
    match: { doors: ['ci'] },
    code: "if (/^release/.test(object.metadata.name) && !object.ref_protected) deny('releases run on protected refs only')\n",
  },
];

export const ALICE = { id: 1, username: 'alice' };

/** Starts a server and lets things happen. `more` are further keys of its configuration, `fill` is done before. */
export async function world(name, more = {}, fill = undefined) {
  const webhook = await startWebhook();
  const config = {
    policies: POLICIES,
    defaultAction: 'allow',
    graph: { profiles: [{ name: 'edge', profile: join(EXAMPLES, 'graph/edge.yaml'), objects: join(EXAMPLES, 'graph/objects') }] },
    authorization: { chains: { default: ['edge'] } },
    ci: { deadline: '1h', webhooks: { allow: [webhook.address] }, runners: { longPoll: '1s' } },
    ...more,
  };
  const server = await Server.start(name, { config, fill }).catch((error) => {
    webhook.close();
    throw error;
  });
  const it = new World(server, webhook);
  try {
    await it.judge();
    await it.setUpJobs();
    await it.runJobs();
    await it.operate();
  } catch (error) {
    await it.close().catch(() => {});
    throw error;
  }
  return it;
}

class World {
  controllers = {};

  runners = {};

  jobs = {};

  constructor(server, webhook) {
    Object.assign(this, { server, webhook });
  }

  async close() {
    this.webhook.close();
    await this.server.stop();
  }

  /** Decisions of Kubernetes' two doors. */
  async judge() {
    const { server } = this;
    assert.equal((await admit(server, pod('web', 'nginx:latest'))).allowed, false);
    assert.equal((await admit(server, pod('worker', LONG), 'ci-bot@corp')).allowed, false);
    assert.equal((await admit(server, pod('api', 'nginx:1.27.3', { team: 'shop' }))).allowed, true);
    assert.ok((await admit(server, pod('reports', 'nginx:1.27.3'))).patch);
    assert.equal((await admit(server, pod('a-rather-long-name', 'nginx:1.27.3'))).warnings.length, 1);
    const recipe = { namespace: 'recipes', resource: 'configmaps' };
    // The graph is read from a directory while the server is ready already.
    await until('the graph is there', async () => (await authorize(server, 'edge:site:south', ['edge:sites'], { ...recipe, name: 'ferment' })).allowed);
    assert.ok(!(await authorize(server, 'edge:site:south', ['edge:sites'], { ...recipe, name: 'pasteurize' })).allowed);
    const denied = await server.call('POST', '/api/tenant/shop/state', { body: { trigger_queue_paused: true }, token: server.tokens.rita });
    assert.equal(denied.status, 403);
    await this.decision('verdict=deny&door=kubernetes');
    await this.decision('verdict=deny&door=api');
  }

  /** The newest decision that these filters find: it is recorded a moment after it was made. */
  async decision(query) {
    const look = async () => (await this.server.get(`/api/v1/decisions?${query}&limit=1`)).items[0];
    return (await until(`a decision with ${query}`, look)).id;
  }

  /** Waits until the decision that a review was answered with is recorded; answers its id. */
  async recorded({ auditAnnotations }) {
    const id = auditAnnotations['decision-id'];
    await until(`decision ${id}`, async () => (await this.server.call('GET', `/api/v1/decisions/${id}`)).status === 200);
    return id;
  }

  async setUpJobs() {
    const { server } = this;
    const add = async (name, level, path, how) => {
      const controller = await server.post('/api/v1/controllers', { name, level, path, kind: 'both', ...how });
      this.controllers[name] = controller;
    };
    await add('zones', 'project', 'shop/web', { policy: { code: "object.tags.push('eu')\n" }, match: { tags: ['linux'] } });
    await add('change-window', 'group', 'shop', { url: this.webhook.url, kind: 'validating', timeout: '5s' });
    await add('security-review', 'instance', undefined, { pull: true, match: { refs: ['review/*'] }, kind: 'validating' });
    const deploys = "if (/^deploy/.test(object.metadata.name) && !object.ref_protected) deny('deployments run on protected refs only')\n";
    await add('deploys', 'project', 'shop/web', { policy: { code: deploys }, state: 'dry_run', kind: 'validating' });
    await add('image-scan', 'project', 'shop/web', { url: this.webhook.url, match: { refs: ['flaky/*'] }, kind: 'validating' });
    await add('releases', 'group', 'shop', { policy: 'protected-releases', state: 'disabled', kind: 'validating' });
    await add('legacy', 'group', 'shop', { url: this.webhook.url, state: 'disabled', kind: 'mutating', failure_policy: 'open', variables: ['CI_*'] });
    this.runners.linux = await register(server, 'linux-1', ['linux', 'eu']);
    this.runners.group = await register(server, 'shop builder', ['linux', 'eu', 'docker'], { runner_type: 'group_type', group_id: 'shop', access_level: 'ref_protected' });
    this.runners.gpu = await register(server, 'gpu with a long description for machines in the second hall', ['gpu', 'cuda-12', 'linux']);
    await server.ask('PATCH', `/api/v1/runners/${this.runners.gpu.id}`, { body: { paused: true } });
    const hall = `object.runners.accepted_ids = ['${this.runners.linux.id}']\n`;
    await add('hall', 'project', 'shop/web', { policy: { code: hall }, match: { refs: ['hall/*'] }, kind: 'mutating' });
    await server.post('/api/v1/exemptions', { controller: 'change-window', project: 'shop/web', user: 'mallory', reason: 'migration of the payment service', until: '2031-01-01T00:00:00Z', ticket: 'OPS-1' });
  }

  /** Submits a job of shop/web, and waits until it has this status. */
  async submit(status, keys = {}) {
    const job = { project: 'shop/web', name: 'build', ref: 'main', ref_protected: true, user: ALICE, tags: ['linux'], script: ['make'], ...keys };
    const { id } = await this.server.post('/api/v1/jobs', job);
    await this.until(id, status);
    return id;
  }

  /** Waits until a job has this status. */
  async until(id, status) {
    await until(`job ${id} is ${status}`, async () => {
      const job = await this.server.get(`/api/v1/jobs/${id}`);
      assert.ok(job.status === status || !job.finished_at, `job ${id} is ${job.status}, not ${status}: ${JSON.stringify(job.admission)}`);
      return job.status === status;
    });
  }

  async runJobs() {
    const { jobs, server } = this;
    jobs.success = await this.submit('pending');
    let run = await this.runners.linux.take(jobs.success);
    await run.write('$ make\ncc -O2 -o shop shop.c\n\u001b[32mall tests passed\u001b[0m\n');
    await run.report('success');
    jobs.failed = await this.submit('pending', { name: 'unit' });
    run = await this.runners.linux.take(jobs.failed);
    await run.write(`$ make test\n${'assertion failed: total is 41, expected 42 '.repeat(8)}\n`);
    await run.report('failed', { failure_reason: 'script_failure', exit_code: 1 });
    jobs.denied = await this.submit('failed', { ref: 'frozen/checkout', ref_protected: false });
    jobs.exempted = await this.submit('pending', { ref: 'frozen/checkout', user: { id: 3, username: 'mallory' }, tags: ['docker'] });
    jobs.preparing = await this.submit('preparing', { ref: 'review/checkout', name: 'deploy', ref_protected: false });
    jobs.failing = await this.submit('preparing', { ref: 'flaky/checkout' });
    jobs.stuck = await this.submit('pending', { name: 'msi', tags: ['windows'] });
    jobs.running = await this.submit('pending', { name: 'integration' });
    this.run = await this.runners.linux.take(jobs.running);
    await this.run.write('$ make integration\nstep 1 of 9\n');
    jobs.canceled = await this.submit('pending', { tags: ['gpu'] });
    await server.post(`/api/v1/jobs/${jobs.canceled}/cancel`);
    await this.until(jobs.canceled, 'canceled');
    jobs.pending = await this.submit('pending', { name: 'lint' });
    jobs.filtered = await this.submit('pending', { ref: 'hall/2', name: 'press' });
    await this.setUpPipelines();
  }

  pipeline(keys = {}) {
    return this.server.post('/api/v1/pipelines', {
      project: 'shop/web', ref: 'main', source: 'push', user: ALICE, name: 'check', stages: ['build', 'test', 'deploy'], ...keys,
      jobs: keys.jobs ?? [
        { name: 'compile', stage: 'build', tags: ['windows'], script: ['make'] },
        { name: 'docs', stage: 'build', tags: ['windows'], script: ['make docs'], allow_failure: true },
        { name: 'unit', stage: 'test', script: ['make test'] },
        { name: 'deploy', stage: 'deploy', script: ['make deploy'] },
      ],
    });
  }

  async setUpPipelines() {
    const waiting = await this.pipeline({ change: '12,1' });
    this.waiting = waiting.id;
    this.jobs.created = waiting.jobs.find((job) => job.name === 'deploy').id;
    await this.pipeline({ ref: 'feature/cart', change: '15,2' });
    const broken = await this.pipeline({ ref: 'frozen/cart', jobs: [
      { name: 'compile', stage: 'build', script: ['make'] },
      { name: 'unit', stage: 'test', script: ['make test'] },
    ] });
    this.broken = broken.id;
    this.jobs.skipped = broken.jobs.find((job) => job.name === 'unit').id;
    await this.until(this.jobs.skipped, 'skipped');
  }

  /** What operators do. */
  async operate() {
    const { server } = this;
    const hold = { job: 'unit', reason: 'flaky since Monday: the log says nothing', count: 2 };
    await server.post('/api/tenant/shop/project/shop%2Fweb/autohold', hold);
    this.hold = (await server.get('/api/tenant/shop/autohold'))[0].id;
    this.exemption = (await server.get('/api/v1/exemptions')).items[0].id;
    await server.post('/api/tenant/plant/state', { trigger_queue_paused: true, reason: 'incident 42' });
    await server.post('/api/v1/jobs', { project: 'plant/line', name: 'build', ref: 'main', user: ALICE });
    this.jobs.held = (await server.get('/api/v1/jobs?project=plant%2Fline')).items[0].id;
  }
}

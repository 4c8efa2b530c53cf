// What people come for, clicked through as they do it.
import assert from 'node:assert/strict';

import { suite } from '../support/browser.mjs';
import { admit, pod } from '../support/kubernetes.mjs';
import { until } from '../support/process.mjs';
import { world } from '../support/world.mjs';

const it = suite(() => world('stories'));

it.test('a platform engineer finds out why a pod was denied', async ({ visit, server, world: made }) => {
  const ada = await visit('ada');
  await made.recorded(await admit(server, pod('checkout', 'nginx:latest')));
  await ada.open('/');
  const denied = ada.page.getByRole('listitem').filter({ hasText: 'CREATE Pod shop/checkout' });
  await ada.follow(denied.getByRole('link'), /^\/decisions\/\w{26}$/);
  await ada.says('main runs nginx:latest: name a version', 'dev@corp', 'pinned-images');
  await ada.page.getByText('What was asked, as it is kept').click();
  await ada.page.locator('#input').getByText('"nginx:latest"').waitFor();
  await ada.follow(ada.link('pinned-images').first(), /^\/policies\/pinned-images$/);
  await ada.says('A denial denies the request.', 'Images name a version', 'name a version`');
  await ada.follow(ada.link('Denials'), /policy=pinned-images/);
  const rows = ada.page.locator('tbody tr');
  assert.equal(await rows.count(), 3);
  for (const text of await rows.allInnerTexts()) assert.match(text, /denied/);
});

it.test('a platform engineer sees what a policy changed, and what it warned of', async ({ visit, server }) => {
  const ada = await visit('ada');
  const all = await server.get('/api/v1/decisions?door=kubernetes&verdict=allow');
  const changed = all.items.find((one) => one.name === 'reports');
  await ada.open(`/decisions/${changed.id}`);
  assert.equal(await ada.state(), 'allowed, changed');
  await ada.says('Allowed, changed by team-label.', '/metadata/labels', '(enforce): changed');
  await ada.open('/decisions?policy=team-label');
  const changes = ada.page.locator('tbody tr').filter({ hasText: 'reports' });
  assert.match(await changes.innerText(), /allowed, changed/);
  await ada.open(`/decisions/${all.items.find((one) => one.name === 'a-rather-long-name').id}`);
  await ada.says('names longer than 12 characters');
});

it.test('a CI administrator finds out what a job waits for, and lets it in', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  await ada.open('/jobs?status=preparing');
  await ada.follow(ada.link('deploy'), /^\/jobs\/\d+$/);
  const waits = ada.page.getByRole('row').filter({ hasText: 'security-review' }).first();
  assert.match(await waits.innerText(), /waiting/);
  await ada.follow(ada.link('security-review').first(), /^\/controllers\/\d+$/);
  await ada.says('It is asked, and its answer counts.', 'review/*');
  // The controller answers, as the team's own program would.
  const { id, secret } = made.controllers['security-review'];
  const [claimed] = await made.server.post(`/api/v1/controllers/${id}/claim`, { max: 1 }, { token: secret });
  const callback = new URL(claimed.callback_url).pathname;
  await made.server.post(callback, { id: claimed.id, admission: 'accepted', reason: 'reviewed by the security team' }, { token: null });
  await made.until(made.jobs.preparing, 'pending');
  await ada.open(`/jobs/${made.jobs.preparing}`);
  await ada.says('reviewed by the security team', 'dry run: it does not count', 'deployments run on protected refs only');
});

it.test('a CI administrator sees which runners fit, and why the others do not', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  await ada.open(`/jobs/${made.jobs.stuck}`);
  assert.match(await ada.text(), /Stuck: /);
  await ada.open(`/jobs/${made.jobs.pending}`);
  const row = (name) => ada.page.locator('tr').filter({ has: ada.link(name) }).last();
  assert.match(await row('linux-1').innerText(), /yes/);
  assert.match(await row('gpu with a long description for machines in the second hall').innerText(), /no.*paused/s);
  await ada.follow(ada.link('linux-1'), /^\/runners\/\d+$/);
  await ada.says('gitlab-runner', 's_1');
});

it.test('a CI administrator sees how controllers changed who may run a job', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  await ada.open(`/jobs/${made.jobs.filtered}`);
  const { linux, group } = made.runners;
  const hall = ada.page.getByRole('row').filter({ has: ada.link('hall') });
  const text = (await hall.innerText()).replaceAll(/\s+/g, ' ');
  assert.ok(text.includes(`only #${linux.id} before #${linux.id} #${group.id} after #${linux.id}`), text);
});

it.test('a CI administrator cancels a job and retries it, and is asked first', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  const job = await made.submit('pending', { name: 'package', tags: ['windows'] });
  await ada.open(`/jobs/${job}`);
  await ada.follow(ada.button('Cancel'), /\/cancel$/);
  assert.match(await ada.heading(), /^Cancel job \d+\?$/);
  await ada.follow(ada.link('Back'));
  assert.equal(await ada.state(), 'pending');
  await ada.follow(ada.button('Cancel'));
  await ada.follow(ada.button('Cancel job'));
  await ada.says('Canceled before it finished.');
  assert.ok(await ada.button('Cancel').isDisabled());
  await ada.says('the job has finished');
  await ada.follow(ada.button('Retry'));
  await made.until(job, 'pending');
  await ada.open(`/jobs/${job}`);
  assert.match(await ada.page.locator('dl.facts').innerText(), /Attempt\s+2/);
});

it.test('a CI administrator pauses a tenant, and jobs say why they wait', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  await ada.open('/tenants');
  await ada.follow(ada.link('plant'), /^\/tenants\/plant$/);
  await ada.says('incident 42');
  await ada.open(`/jobs/${made.jobs.held}`);
  assert.match(await ada.text(), /Held back by tenant plant: new pipelines are paused: incident 42\./);
  await ada.open('/tenants/plant');
  await ada.page.getByLabel('Pause new pipelines').uncheck();
  await ada.follow(ada.button('Set state'));
  await until('the job goes on', async () => (await made.server.get(`/api/v1/jobs/${made.jobs.held}`)).status !== 'created');
  await ada.open(`/jobs/${made.jobs.held}`);
  assert.doesNotMatch(await ada.text(), /Held back/);
});

it.test('a security auditor finds who may do what, and what a user was denied', async ({ visit }) => {
  const rita = await visit('rita');
  await rita.open('/roles');
  await rita.says('auditors', 'matches you', 'Only rules that match you are shown.');
  await rita.page.locator('select[name=permission]').selectOption('cancel-job');
  await rita.page.locator('select[name=tenant]').selectOption('shop');
  await rita.follow(rita.button('Try'), /permission=cancel-job/);
  await rita.says('Denied');
  await rita.open('/decisions');
  await rita.page.getByLabel('User').fill('ci-bot@corp');
  await rita.page.getByLabel('Verdict').selectOption('deny');
  await rita.follow(rita.button('Filter'), /user=ci-bot/);
  const rows = rita.page.locator('tbody tr');
  assert.equal(await rows.count(), 1);
  assert.match(await rows.innerText(), /ci-bot@corp/);
  await rita.follow(rita.link('Clear'), /^\/decisions$/);
  assert.ok(await rows.count() > 3);
});

it.test('an administrator asks what somebody else could do', async ({ visit }) => {
  const ada = await visit('ada');
  await ada.open('/roles');
  await ada.page.locator('select[name=permission]').selectOption('retry-job');
  await ada.page.locator('select[name=tenant]').selectOption('shop');
  await ada.page.getByLabel('Project').fill('shop/web');
  await ada.page.getByLabel('Ref', { exact: true }).fill('release/1');
  const claims = ada.page.getByLabel(/^Claims of somebody else/);
  await claims.fill('{"sub": "new", "groups": ["shop-team"]}');
  await ada.follow(ada.button('Try'), /claims=/);
  await ada.says('their roles permit retry-job only on conditions', 'ref is release/1', 'What these claims have in shop', 'submit-job');
  assert.match(await claims.inputValue(), /shop-team/);
  const max = await visit('max');
  await max.open('/roles');
  assert.equal(await max.page.locator('[name=claims]').count(), 0);
});

it.test('a security auditor sees an exemption granted, used and revoked', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  await ada.open('/exemptions');
  const form = ada.page.locator('form[action="/exemptions"]');
  await form.getByLabel('Controller').fill('change-window');
  await form.getByLabel('User').fill('carol');
  await form.getByLabel('Reason').fill('hotfix');
  await form.getByLabel('Until (UTC)').fill('2031-02-03T04:05');
  await form.getByLabel('Ticket').fill('SEC-9');
  await ada.follow(ada.button('Grant exemption'));
  await ada.says('SEC-9');
  const job = await made.submit('pending', { ref: 'frozen/hotfix', user: { id: 9, username: 'carol' }, tags: ['windows'] });
  await ada.open(`/jobs/${job}`);
  await ada.says('does not count because of');
  await ada.says(/^\s*change-window: denied, but exempted by exemption \d+: .* is frozen until Monday/);
  await ada.open('/exemptions');
  const row = ada.page.getByRole('row').filter({ hasText: 'SEC-9' });
  assert.match(await row.innerText(), /by ada[^]*\b1 last 20/);
  await ada.follow(ada.button('Revoke', row), /\/revoke$/);
  await ada.says('hotfix');
  await ada.follow(ada.page.locator('main button[type=submit]'), /^\/exemptions$/);
  assert.equal(await row.count(), 0);
  const rita = await visit('rita');
  await rita.open('/decisions?door=api&user=ada');
  const audited = rita.page.locator('tbody tr').filter({ hasText: 'manage-exemptions' });
  // That of the world, and the one that was granted and revoked here.
  assert.equal(await audited.count(), 3);
});

it.test('a path through the graph is told in words, and its vertices lead on', async ({ visit }) => {
  const rita = await visit('rita');
  await rita.open('/graph');
  await rita.page.getByLabel('Search').fill('line DAIRY cup');
  await rita.follow(rita.button('Search'), /search=/);
  await rita.says('1 vertex found', 'Line:dairy/cups');
  await rita.open('/graph');
  await rita.page.getByLabel('From').fill('ConfigMap:recipes/ferment');
  await rita.page.getByLabel('To', { exact: true }).fill('Site:south');
  await rita.follow(rita.button('Find a path'), /from=ConfigMap/);
  assert.match(await rita.text(), /ConfigMap:recipes\/ferment leads to Recipe:dairy\/yoghurt leads to Line:dairy\/cups leads to Site:south\./);
  await rita.follow(rita.page.locator('p.lead').getByRole('link', { name: 'Line:dairy/cups' }), /vertex=Line/);
  await rita.says('Secret:dairy/plc-cups', 'Site:north');
  await rita.page.getByLabel('Search').fill('Recipe:dairy/milk');
  await rita.follow(rita.button('Search'), /search=Recipe/);
  await rita.says('ConfigMap:recipes/pasteurize');
  await rita.open('/graph?from=ConfigMap%3Arecipes%2Fpasteurize&to=Site%3Asouth');
  assert.match(await rita.text(), /There is no path from ConfigMap:recipes\/pasteurize to Site:south\..* leads to:.*Site:north/);
});

it.test('buttons that may not be used are disabled and say what is missing', async ({ visit, world: made }) => {
  const rita = await visit('rita');
  const disabled = async (path, name, permission) => {
    await rita.open(path);
    const closed = rita.page.locator('details:not([open]) > summary');
    while (await closed.count() > 0) await closed.first().click();
    const button = rita.button(name).first();
    assert.ok(await button.isDisabled(), `${name} at ${path}`);
    assert.match(await button.getAttribute('title'), new RegExp(permission), `${name} at ${path}`);
    assert.match(await rita.text(), new RegExp(permission), `${path} says what is missing`);
  };
  await disabled(`/jobs/${made.jobs.running}`, 'Cancel', 'cancel-job');
  await disabled(`/jobs/${made.jobs.success}`, 'Retry', 'retry-job');
  await disabled(`/runners/${made.runners.linux.id}`, 'Pause', 'manage-runners');
  await disabled(`/runners/${made.runners.linux.id}`, 'Delete', 'manage-runners');
  await disabled(`/controllers/${made.controllers.zones.id}`, 'Disable', 'manage-controllers');
  await disabled('/exemptions', 'Revoke', 'manage-exemptions');
  await disabled('/tenants/shop', 'Set state', 'tenant-state');
  await disabled('/tenants/shop', 'Place hold', 'autohold');
  await disabled('/tenants/shop', 'Dequeue', 'dequeue');
  // What a button would not do, a form can't either.
  await rita.open(`/jobs/${made.jobs.running}/cancel`);
  await rita.follow(rita.button('Cancel job'));
  await rita.says('cancel-job');
  assert.equal((await made.server.get(`/api/v1/jobs/${made.jobs.running}`)).status, 'running');
});

it.test('a member of one tenant sees only that', async ({ visit, world: made }) => {
  const max = await visit('max');
  // All of what they may read is there, though they may not read everything.
  await max.open('/tenants');
  const rows = max.page.locator('tbody tr');
  assert.equal(await rows.count(), 1);
  assert.match(await rows.innerText(), /shop\s+normal\s+by pattern/);
  await max.open('/');
  await max.follow(max.link('shop'), /^\/tenants\/shop$/);
  await max.follow(max.page.getByRole('row').filter({ hasText: 'Created: waits for its stage' }).getByRole('link').last(), /^\/jobs\?tenant=shop&status=created$/);
  const shown = await max.page.locator('tbody tr').allInnerTexts();
  assert.ok(shown.length > 0 && shown.every((text) => text.includes('shop/web')), shown.join());
  await max.open('/jobs?tenant=plant', 404);
  await max.open('/exemptions');
  assert.match(await max.page.getByRole('row').filter({ hasText: 'OPS-1' }).innerText(), /migration of the payment service/);
  await max.open('/jobs');
  assert.doesNotMatch(await max.text(), /plant\/line/);
  await max.open(`/jobs/${made.jobs.held}`, 404);
  // A tenant of others is answered as one that there is not.
  await max.open('/tenants/plant', 403);
  await max.open('/tenants/unknown', 403);
  await max.open('/decisions', 403);
  await max.says('read-decisions');
  await max.open(`/jobs/${made.jobs.denied}`);
  const retry = max.button('Retry');
  assert.ok(await retry.isDisabled(), 'retry-job is for main and features');
});

it.test('signing in leads to where one wanted to go; wrong tokens and forged forms are rejected', async ({ visit, server }) => {
  const ada = await visit(null);
  await ada.open('/policies');
  assert.match(ada.path, /^\/sign-in\?next=/);
  await ada.page.getByLabel('Token').fill('not.a.token');
  assert.equal((await ada.follow(ada.button('Sign in'))).status(), 401);
  assert.ok(await ada.page.getByRole('alert').innerText());
  await ada.page.getByLabel('Token').fill(server.tokens.ada);
  await ada.follow(ada.button('Sign in'), /^\/policies$/);
  await ada.page.getByText('Signed in as ada').waitFor();

  // A form whose proof is not this session's changes nothing.
  await ada.open('/tenants/shop');
  await ada.page.getByText('Change the state').click();
  await ada.page.getByLabel('Pause new pipelines').check();
  await ada.page.locator('form[action$="/state"] input[name=csrf]').evaluate((input) => { input.value = 'forged'; });
  assert.equal((await ada.follow(ada.button('Set state'))).status(), 403);
  assert.equal((await server.get('/api/tenant/shop/status')).state.trigger_queue_paused, false);

  await ada.open('/');
  await ada.follow(ada.button('Sign out'));
  await ada.open('/policies');
  assert.match(ada.path, /^\/sign-in/);
  // A path of another server is not gone to.
  await ada.open('/sign-in?next=https://example.org/');
  await ada.page.getByLabel('Token').fill(server.tokens.ada);
  await ada.follow(ada.button('Sign in'), /^\/$/);
});

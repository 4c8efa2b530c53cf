// Everything works without scripts: pages are read, and every form is sent once.
import assert from 'node:assert/strict';

import { suite } from '../support/browser.mjs';
import { until } from '../support/process.mjs';
import { missingForms } from '../support/routes.mjs';
import { decisionsOf, pages } from '../support/pages.mjs';
import { world } from '../support/world.mjs';

const it = suite(async () => {
  const made = await world('no-script', { web: { playground: true } });
  made.decisions = await decisionsOf(made);
  return made;
});

const PLAIN = { javaScriptEnabled: false };

it.test('every page is read without scripts', async ({ visit, world: made }) => {
  // What is on a page must not depend on scripts: each is compared with itself.
  const visitors = {};
  const on = [...pages(made).filter(({ name }) => !name.endsWith('-off')), { name: 'playground', path: '/playground' },
    { name: 'candidate-set', path: '/replay?policy=pinned-images' }];
  for (const { name, path, person = 'ada', status = 200 } of on) {
    visitors[person] ??= [await visit(person, PLAIN), await visit(person)];
    const outlines = [];
    for (const visitor of visitors[person]) {
      await visitor.open(path, status);
      outlines.push(await visitor.outline());
    }
    const [plain, scripted] = outlines;
    assert.ok(plain[0].length > 3, `${name} has a heading`);
    assert.deepEqual(plain, scripted, name);
  }
});

/** A set in which one policy is changed, one removed and one added, each step with its own button. */
async function candidateSet(ada, page) {
  await ada.open('/policies');
  await ada.follow(ada.link('Preview changes of several policies'), /^\/replay$/);
  await page.getByLabel('pinned-images in the candidate set').selectOption('removed');
  await page.getByLabel('team-label in the candidate set').selectOption('another source');
  await page.getByLabel('Mode of small-names').selectOption('enforce');
  await ada.follow(ada.button('Edit sources'), /^\/replay$/);
  const source = page.getByLabel('Source of team-label');
  assert.match(await source.inputValue(), /labels\.team/);
  await source.fill('return\n');
  await ada.follow(ada.button('Add a policy'), /^\/replay$/);
  assert.equal(await source.inputValue(), 'return\n', 'what was typed stays');
  await page.getByLabel('Name', { exact: true }).fill('no-api');
  await page.getByLabel('Source of new policy 1').fill("if (object.metadata.name === 'api') deny('no api')\n");
  await ada.follow(ada.button('Replay'), /^\/replay$/);
  await ada.says('would now be denied by no-api', 'would now be denied by small-names', 'previously denied by pinned-images', 'would now be changed otherwise by Policies');
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'no-api');
}

it.test('every form works without scripts', async ({ visit, world: made, server }) => {
  const sent = new Set();
  const ada = await visit('ada', PLAIN);
  const { page } = ada;
  page.on('request', (request) => request.method() === 'POST' && sent.add(new URL(request.url()).pathname));
  const { controllers, jobs, runners } = made;

  await ada.open(`/jobs/${jobs.pending}`);
  await ada.follow(ada.button('Cancel'), /\/cancel$/);
  await ada.follow(ada.link('Back'), /^\/jobs\/\d+$/);
  await ada.follow(ada.button('Cancel'));
  await ada.follow(ada.button('Cancel job'), /^\/jobs\/\d+$/);
  await ada.says('Canceled before it finished');
  await ada.follow(ada.button('Retry'), /^\/jobs\/\d+$/);
  await made.until(jobs.pending, 'pending');

  await ada.open(`/jobs/${jobs.failing}`);
  await ada.follow(ada.button('Redeliver').first(), /^\/jobs\/\d+$/);
  await ada.open(`/controllers/${controllers['image-scan'].id}`);
  await ada.follow(ada.button('Redeliver').first(), /^\/controllers\/\d+$/);
  await ada.follow(ada.button('Dry run'));
  await ada.says('its answer is only recorded');
  await ada.follow(ada.button('Disable'), /\/disable$/);
  await ada.follow(ada.link('Back'), /^\/controllers\/\d+$/);
  assert.equal(await ada.state(), 'dry run');
  await ada.follow(ada.button('Disable'));
  await ada.follow(ada.button('Disable controller'), /^\/controllers\/\d+$/);
  await ada.says('It is not asked.');
  await ada.follow(ada.button('Enable'));
  await ada.says('It is asked, and its answer counts.');

  await ada.open(`/runners/${runners.linux.id}`);
  await ada.follow(ada.button('Pause'));
  await ada.follow(ada.button('Resume'));
  await ada.open(`/runners/${runners.gpu.id}`);
  await ada.follow(ada.button('Delete'), /\/delete$/);
  await ada.follow(ada.button('Delete runner'), /^\/runners$/);
  assert.equal(await ada.page.getByText('gpu with a long description').count(), 0);

  await ada.open('/exemptions');
  const form = page.locator('form[action="/exemptions"]');
  await form.getByLabel('Project').fill('shop/web');
  await form.getByLabel('Controller').fill('change-window');
  await form.getByLabel('Reason').fill('release of the shop');
  await form.getByLabel('Until (UTC)').fill('2031-01-01T12:00');
  await form.getByLabel('Ticket').fill('OPS-7');
  await ada.follow(ada.button('Grant exemption'), /^\/exemptions$/);
  const row = page.getByRole('row').filter({ hasText: 'OPS-7' });
  await ada.follow(ada.button('Revoke', row), /\/revoke$/);
  await ada.follow(page.locator('main button'), /^\/exemptions$/);
  assert.equal(await page.getByText('OPS-7').count(), 0);

  await ada.open('/tenants/shop');
  await page.getByText('Change the state').click();
  await page.getByLabel('Pause new pipelines').check();
  await page.getByLabel('Reason').first().fill('maintenance');
  await ada.follow(ada.button('Set state'), /^\/tenants\/shop$/);
  await ada.says('paused: new pipelines wait', 'maintenance');
  await page.getByLabel('Pause new pipelines').uncheck();
  await ada.follow(ada.button('Set state'));
  assert.equal(await ada.state(), 'normal');

  await page.getByText('Change the state').click();
  await page.getByLabel('Discard new pipelines').check();
  await page.getByLabel('Reason').first().fill('the disk is full');
  await ada.follow(ada.button('Set state'));
  assert.equal(await ada.heading(), 'Discard new pipelines of shop?');
  assert.equal((await made.server.get('/api/tenant/shop/status')).state.trigger_queue_discarding, false);
  await ada.follow(ada.button('Discard new pipelines'), /^\/tenants\/shop$/);
  assert.equal(await ada.state(), 'new pipelines are discarded');
  await ada.says('the disk is full');
  await page.getByLabel('Discard new pipelines').uncheck();
  await ada.follow(ada.button('Set state'));
  assert.equal(await ada.state(), 'normal');

  await page.getByText('Hold the runner of the next failing job').click();
  const hold = page.locator('form[action$="/holds"]');
  await hold.getByLabel('Project').fill('shop/web');
  await hold.getByLabel('Job').fill('integration');
  await hold.getByLabel('Reason').fill('look at the machine');
  await ada.follow(ada.button('Place hold'));
  const held = page.getByRole('row').filter({ hasText: 'look at the machine' });
  await ada.follow(ada.button('Release', held), /\/release$/);
  await ada.follow(ada.button('Release'), /^\/tenants\/shop$/);
  assert.equal(await page.getByText('look at the machine').count(), 0);

  const second = page.getByRole('row').filter({ hasText: '15,2' });
  await ada.follow(ada.button('Promote', second), /^\/tenants\/shop$/);
  await ada.follow(ada.button('Dequeue', second), /\/dequeue/);
  await ada.follow(ada.button('Dequeue'), /^\/tenants\/shop$/);
  assert.equal(await second.count(), 0);
  await page.getByText('Enqueue a change or ref again').click();
  const again = page.locator('form[action$="/enqueue"]');
  await again.getByLabel('Project').fill('shop/web');
  await again.getByLabel('Pipeline').fill('check');
  await again.getByLabel('Change, like 12,1').fill('15,2');
  await ada.follow(ada.button('Enqueue'), /^\/tenants\/shop$/);
  assert.equal(await second.count(), 1);

  await ada.open('/playground');
  await ada.follow(ada.button('Run'), /^\/playground$/);
  assert.match(await page.locator('#result').innerText(), /denied/);
  await ada.open('/policies/pinned-images');
  await page.locator('textarea[name=text]').fill("deny('nothing is allowed')");
  await ada.follow(ada.button('Replay'), /\/replay$/);
  await ada.says('decisions were looked at');
  await candidateSet(ada, page);

  await ada.follow(ada.button('Sign out'));
  await ada.open('/jobs');
  assert.match(ada.path, /^\/sign-in\?next=/);
  await page.getByLabel('Token').fill(server.tokens.ada);
  await ada.follow(ada.button('Sign in'), /^\/jobs$/);

  await until('the decisions of forms', async () => (await server.get('/api/v1/decisions?door=api&user=ada&limit=100')).items.length > 10);
  assert.deepEqual(missingForms([...sent]), [], 'forms that this test leaves out');
});

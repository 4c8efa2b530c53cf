// What scripts add: pages that keep themselves up to date, a theme of one's own, buttons that copy.
import assert from 'node:assert/strict';

import { isAccessible } from '../support/axe.mjs';
import { suite } from '../support/browser.mjs';
import { admit, pod } from '../support/kubernetes.mjs';
import { decisionsOf } from '../support/pages.mjs';
import { world } from '../support/world.mjs';

const it = suite(async () => {
  const made = await world('live');
  made.decisions = await decisionsOf(made);
  return made;
});

/** Notes on the page that it is still the same document. */
const mark = (page) => page.evaluate(() => { window.mark = 'the same document'; });
const isSame = async (page) => assert.equal(await page.evaluate(() => window.mark), 'the same document', 'not reloaded');

it.test('new decisions appear by themselves, and can be paused', async ({ visit, server }) => {
  const rita = await visit('rita');
  const page = await rita.open('/decisions?door=kubernetes');
  await mark(page);
  const row = (name) => page.getByRole('row').filter({ hasText: `shop/${name}` });
  await page.getByText('Live', { exact: true }).waitFor();
  await admit(server, pod('fresh-one', 'nginx:1.27.3'));
  await row('fresh-one').waitFor();

  await rita.button('Pause updates').click();
  await page.getByText('Updates are paused.').waitFor();
  await admit(server, pod('fresh-two', 'nginx:1.27.3'));
  await page.getByText('1 new decision').waitFor();
  await isAccessible(page, 'paused updates');
  assert.equal(await row('fresh-two').count(), 0, 'paused');
  await rita.button('Show').click();
  await row('fresh-two').waitFor();
  assert.ok(await rita.button('Resume updates').isVisible(), 'still paused');
  await rita.button('Resume updates').click();
  await admit(server, pod('fresh-three', 'nginx:1.27.3'));
  await row('fresh-three').waitFor();
  await isSame(page);
});

it.test('an update keeps what is focused', async ({ visit, server }) => {
  const rita = await visit('rita');
  const page = await rita.open('/decisions?door=kubernetes&verdict=deny');
  await page.getByText('Live', { exact: true }).waitFor();
  const link = page.getByRole('row').filter({ hasText: 'ci-bot@corp' }).getByRole('link');
  await link.focus();
  const path = await link.getAttribute('href');
  await admit(server, pod('rejected', 'nginx:latest'));
  await page.getByRole('row').filter({ hasText: 'shop/rejected' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), path);
});

it.test('the output of a running job grows until it has finished', async ({ visit, world: made }) => {
  const ada = await visit('ada');
  const page = await ada.open(`/jobs/${made.jobs.running}`);
  await mark(page);
  await ada.says('step 1 of 9');
  await made.run.write('step 2 of 9\n');
  await ada.says('step 2 of 9');
  await made.run.write('step 3 of 9\n');
  await made.run.report('success');
  await ada.says('step 3 of 9', 'Finished without an error.');
  await rests(page);
  await isSame(page);
});

/** What is finished is not asked for again. */
async function rests(page) {
  await page.getByRole('button', { name: 'Pause updates' }).waitFor({ state: 'hidden' });
}

it.test('a theme is chosen for this browser, whatever the system has', async ({ visit }) => {
  const ada = await visit('ada', { colorScheme: 'light' });
  const page = await ada.open('/policies');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel('Theme').selectOption('dark');
  const dark = await ground();
  assert.notEqual(dark, light);
  await isAccessible(page, 'a chosen dark theme');
  await ada.open('/jobs');
  assert.equal(await ground(), dark, 'on the next page');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByLabel('Theme').selectOption('light');
  assert.equal(await ground(), light);
  await page.getByLabel('Theme').selectOption('as the system');
  assert.equal(await ground(), dark);
});

it.test('the id of a decision and the text of a policy are copied', async ({ visit, world: made }) => {
  const ada = await visit('ada', { permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = () => ada.page.evaluate(() => navigator.clipboard.readText());
  await ada.open(`/decisions/${made.decisions.denied}`);
  await ada.button('Copy id').click();
  await ada.page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
  assert.equal(await copied(), made.decisions.denied);
  await ada.open('/policies/pinned-images');
  await ada.button('Copy source').click();
  await ada.page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
  assert.match(await copied(), /^for \(const \{name, image\} of object\.spec\.containers\)/);
});

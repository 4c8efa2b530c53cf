// Writing a policy in the browser: the form without scripts, the editor with them, and what decisions lead there.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { fitsWindow, isAccessible } from '../support/axe.mjs';
import { suite } from '../support/browser.mjs';
import { decisionsOf } from '../support/pages.mjs';
import { world } from '../support/world.mjs';

const it = suite(async () => {
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  const made = await world('playground', { web: { playground: true } });
  made.decisions = await decisionsOf(made);
  return made;
});

const POLICY = `if (object.metadata.labels?.team !== 'shop') {
  deny('pods of the shop have its label')
}
object.metadata.labels.seen = 'yes'
`;

const pod = (team) => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  labels: {team: ${team}}\n`;

/** The text of an editor, and typing there as people do. */
const editor = (visitor, name) => visitor.page.getByRole('textbox', { name, exact: true });

async function type(visitor, name, text) {
  const field = editor(visitor, name);
  await field.click();
  await visitor.page.keyboard.press('ControlOrMeta+A');
  await visitor.page.keyboard.press('Delete');
  await visitor.page.keyboard.insertText(text);
}

it.test('a policy is tried without scripts', async ({ visit }) => {
  const ada = await visit('ada', { javaScriptEnabled: false });
  const page = await ada.open('/playground');
  const run = async (object) => {
    await page.locator('#policy').fill(POLICY);
    await page.locator('#object').fill(object);
    return ada.follow(ada.button('Run'), /^\/playground$/);
  };
  assert.equal((await run(pod('pay'))).status(), 200);
  await ada.says('pods of the shop have its label', 'denied');
  assert.match(await page.locator('#result').innerText(), /line 2/i);
  assert.equal((await page.locator('#policy').inputValue()).trim(), POLICY.trim(), 'the form keeps what was typed');
  await run(pod('shop'));
  assert.match(await page.locator('#result').innerText(), /allowed, changed/);
  await ada.says('/metadata/labels/seen');
  assert.equal(await ada.button('Share').isVisible(), false);
});

it.test('a policy is written in the editor, completed, run and shared', async ({ visit }) => {
  const ada = await visit('ada', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = ada;
  await ada.open('/playground');
  await isAccessible(page, 'the playground with its editors');
  await page.emulateMedia({ colorScheme: 'dark' });
  await isAccessible(page, 'the playground with its editors, dark');

  await type(ada, 'Policy', '');
  await page.keyboard.type('req.userI');
  await page.getByRole('option', { name: /^userInfo/ }).waitFor();
  await isAccessible(page, 'completions');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#policy').value === 'req.userInfo');

  await type(ada, 'Policy', POLICY);
  await type(ada, /^Object, YAML/, pod('pay'));
  const [answer] = await Promise.all([page.waitForNavigation(), page.keyboard.press('Control+Enter')]);
  assert.equal(answer.status(), 200);
  await ada.says('pods of the shop have its label');
  const covered = page.locator('.cm-line.cm-covered');
  await covered.first().waitFor();
  assert.deepEqual(await page.locator('.cm-line.cm-missed').allInnerTexts(), ["object.metadata.labels.seen = 'yes'"]);
  await isAccessible(page, 'a result');
  await fitsWindow(page, 'a result');
  await page.setViewportSize({ width: 320, height: 640 });
  await fitsWindow(page, 'a result on a telephone');

  await ada.button('Share').click();
  await page.getByText('The link is copied.').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /\/playground#p=[\w-]+$/);
  const other = await visit('ada');
  await other.page.goto(link);
  await other.page.getByText('The form is filled in from the link.').waitFor();
  assert.equal((await other.page.locator('#policy').inputValue()).trim(), POLICY.trim());
  assert.match(await editor(other, 'Policy').innerText(), /pods of the shop have its label/);
  assert.equal(await other.page.locator('#result').count(), 0, 'nothing is run before one asks');
});

it.test('the keyboard leads through the form and out of the editor', async ({ visit }) => {
  const ada = await visit('ada');
  const { page } = ada;
  await ada.open('/playground');
  await editor(ada, 'Policy').focus();
  const before = await page.locator('#policy').inputValue();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('name')), 'language');
  assert.equal(await page.locator('#policy').inputValue(), before, 'Tab did not indent');
});

it.test('what is wrong with a policy is said with its line', async ({ visit }) => {
  const ada = await visit('ada');
  await ada.open('/playground');
  await type(ada, 'Policy', 'const x = ;\n');
  await ada.follow(ada.button('Run'));
  const result = ada.page.locator('#result');
  assert.match(await result.innerText(), /line 1, column 11/);
  await isAccessible(ada.page, 'an invalid policy');
});

it.test('a platform engineer replays a denial and copies it as a test case', async ({ visit, world: made }) => {
  const ada = await visit('ada', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = ada;
  await ada.open(`/decisions/${made.decisions.denied}`);
  const text = await page.locator('pre#test-case').textContent();
  assert.match(text, /nginx:latest/);
  await ada.follow(ada.link('Replay against the current policies'), /\/replay$/);
  await ada.says('pinned-images', 'name a version');
  await ada.follow(ada.link('The decision'), /^\/decisions\/\w{26}$/);
  await page.locator('summary').filter({ hasText: 'portcullis test' }).click();
  await page.locator('[data-copy="#test-case"]').click();
  await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trim(), text.trim());
});

it.test('a candidate set is tried over the recorded decisions', async ({ visit }) => {
  const ada = await visit('ada');
  const { page } = ada;
  await ada.open('/policies/pinned-images');
  await ada.follow(ada.link('Change several policies at once'), /^\/replay/);
  await type(ada, 'Source of pinned-images', "if (object.metadata.name === 'api') deny('no api')\n");
  await ada.follow(ada.button('Add a policy'), /^\/replay$/);
  await page.getByLabel('Name', { exact: true }).fill('broken');
  await type(ada, 'Source of new policy 1', 'const x = ;\n');
  await ada.follow(ada.button('Replay'), /^\/replay$/);
  await ada.says('broken: Line 1, column 11');
  await type(ada, 'Source of new policy 1', "if (object.metadata.name === 'reports') deny('no reports')\n");
  await ada.follow(ada.button('Replay'), /^\/replay$/);
  await ada.says('would now be denied by pinned-images', 'would now be denied by broken', 'shop/api', 'shop/reports');
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme });
    await isAccessible(page, `a candidate set in ${theme}`);
    await page.screenshot({ path: join(process.env.SCREENSHOTS, `candidate-set-${theme}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 320, height: 640 });
  await fitsWindow(page, 'a candidate set on a telephone');
  await page.screenshot({ path: join(process.env.SCREENSHOTS, 'candidate-set-narrow.png'), fullPage: true });
});

it.test('a policy is tried over the recorded decisions', async ({ visit }) => {
  const ada = await visit('ada');
  await ada.open('/policies/pinned-images');
  await type(ada, 'Source', "if (object.metadata.name === 'api') deny('no api')\n");
  await ada.follow(ada.page.locator('form[action$="/replay"]').getByRole('button', { name: 'Replay' }), /\/replay$/);
  await ada.says('decisions were looked at', 'shop/api', 'shop/web');
  await isAccessible(ada.page, 'a policy over recorded decisions');
});

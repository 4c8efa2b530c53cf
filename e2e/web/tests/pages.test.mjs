// Every page, in light and dark, on a telephone, with the keyboard; and that none is left out.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { canSkip, fitsWindow, isAccessible, isReachable } from '../support/axe.mjs';
import { suite } from '../support/browser.mjs';
import { decisionsOf, pages } from '../support/pages.mjs';
import { isKnown, missingPages, routesOf } from '../support/routes.mjs';
import { world } from '../support/world.mjs';

const SCREENSHOTS = process.env.SCREENSHOTS;
const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 800 };

const it = suite(async () => {
  const made = await world('pages');
  made.decisions = await decisionsOf(made);
  return made;
});

/** Everything that every page must be. */
async function check(page, name) {
  await page.setViewportSize(WIDE);
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme });
    await isAccessible(page, `${name} in ${theme}`);
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${theme}.png`), fullPage: true });
  }
  await fitsWindow(page, `${name}, ${WIDE.width} px wide,`);
  await isReachable(page, name);
  await canSkip(page, name);
  await page.setViewportSize(NARROW);
  await fitsWindow(page, `${name}, ${NARROW.width} px wide,`);
  await page.screenshot({ path: join(SCREENSHOTS, `${name}-narrow.png`), fullPage: true });
  const headings = await page.locator('h1').allInnerTexts();
  assert.equal(headings.length, 1, name);
  assert.ok((await page.title()).startsWith(headings[0]), `the title of ${name}`);
}

it.test('every page is accessible, fits a telephone, works with the keyboard', async ({ visit, world: made }) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const links = new Set();
  const paths = [];
  const failures = [];
  const left = pages(made);
  // Two side by side, each with people of its own: a machine has more than one processor.
  const lane = async () => {
    const visitors = {};
    for (let next = left.shift(); next; next = left.shift()) {
      const { name, path, person = 'ada', status = 200 } = next;
      visitors[person] ??= await visit(person);
      const page = await visitors[person].open(path, status);
      await check(page, name).catch((error) => failures.push(error.message));
      if (status === 200) paths.push(path.split('?')[0]);
      const found = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((a) => a.getAttribute('href').split(/[?#]/)[0]));
      found.forEach((link) => links.add(link));
    }
  };
  await Promise.all([lane(), lane()]);
  assert.deepEqual(failures, []);
  // The playground is off here and has a file of its own; the other answers with the page of a policy.
  assert.deepEqual(missingPages(paths), ['/playground', '/policies/*/replay', '/replay'], 'pages that support/pages.mjs leaves out');
  assert.deepEqual([...links].filter((path) => !isKnown(path)), [], 'links to paths that there are not');
  const linked = [...new Set([...links].flatMap((path) => routesOf('get', path)))];
  assert.deepEqual(missingPages(linked.map((route) => route.replaceAll('*', 'x'))).filter((route) => !ASKED.has(route)), [], 'pages that no link leads to');
});

/** Pages that buttons lead to, and the playground, which is off here. */
const ASKED = new Set(['/playground', '/replay', '/policies/*/replay', '/jobs/*/cancel', '/controllers/*/disable', '/runners/*/delete', '/exemptions/*/revoke', '/tenants/*/holds/*/release', '/tenants/*/dequeue']);

it.test('pages with a frame of their own are accessible', async ({ visit }) => {
  const rita = await visit('rita');
  for (const path of ['/docs', '/debug/resource-dependency-graph']) {
    const page = await rita.open(path);
    await page.waitForLoadState('networkidle');
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: theme });
      await isAccessible(page, `${path} in ${theme}`);
    }
  }
});

it.test('a rejected sign-in and rejected forms are pages like others', async ({ visit }) => {
  const person = await visit(null);
  await person.open('/sign-in');
  await person.page.getByLabel('Token').fill('nonsense');
  const answer = await person.follow(person.button('Sign in'));
  assert.equal(answer.status(), 401);
  await check(person.page, 'sign-in-rejected');

  const operator = await visit('ada');
  await operator.open('/tenants/shop');
  await operator.page.getByText('Hold the runner of the next failing job').click();
  const form = operator.page.locator('form[action$="/holds"]');
  await form.getByLabel('Project').fill('unknown/project');
  await form.getByLabel('Job').fill('unit');
  await form.getByLabel('Reason').fill('to see what happens');
  const rejected = await operator.follow(operator.button('Place hold'));
  assert.equal(rejected.status(), 404);
  // It is this form that is opened again, with what was typed and what is wrong with it.
  assert.equal(await form.getByLabel('Project').inputValue(), 'unknown/project');
  assert.equal(await operator.page.locator('details[open]').count(), 1);
  await operator.page.locator('details[open]').filter({ has: form }).getByRole('alert').waitFor();
  await check(operator.page, 'tenant-rejected');
});

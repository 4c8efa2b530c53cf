// What a page must be for everyone: axe's rules, no sideways scroll on a telephone, everything reachable with the keyboard.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.NODE_FOLDER}/`);
const { AxeBuilder } = require('@axe-core/playwright');

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Axe finds nothing. */
export async function isAccessible(page, what) {
  // What is folded is not looked at otherwise.
  const fold = (open) => page.evaluate((isOpen) => {
    for (const details of document.querySelectorAll(isOpen ? 'details:not([open])' : 'details.unfolded')) {
      details.open = isOpen;
      details.classList.toggle('unfolded', isOpen);
    }
  }, open);
  await fold(true);
  // Legacy mode opens no page of its own; there are no frames that would need one.
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).setLegacyMode(true).analyze();
  await fold(false);
  const found = violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html}: ${node.failureSummary}`));
  assert.deepEqual(found, [], `axe about ${what}`);
}

/** Nothing of the page is wider than the window. */
export async function fitsWindow(page, what) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const all = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > width + 1);
    return [`${document.documentElement.scrollWidth} wide`, ...all.slice(-3).map((e) => e.outerHTML.slice(0, 160))];
  });
  assert.deepEqual(wide, [], `${what} scrolls sideways`);
}

/** What Tab must reach, numbered in the document; answers how many there are. */
function number() {
  const fit = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex], [contenteditable=true]';
  // An editor is a control as well, which is in a shadow tree.
  const all = [...document.querySelectorAll(`${fit}, .editor`)].filter((e) => (e.tabIndex >= 0 || e.shadowRoot) && !e.matches(':disabled') && e.checkVisibility({ visibilityProperty: true }));
  // One button of a group of radio buttons is reached, the others with arrows.
  const stops = all.filter((e) => e.type !== 'radio' || e.checked);
  // Not in an attribute, which a live update would take away.
  window.stops = new WeakMap(stops.map((e, n) => [e, String(n)]));
  // Where Tab begins.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  window.scrollTo(0, 0);
  return stops.length;
}

/** What has the focus: its number, and what is wrong with how that is seen. */
function look() {
  const e = document.activeElement;
  if (!e || e === document.body) return { stop: null };
  const style = getComputedStyle(e);
  const isOutlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  const editor = e.shadowRoot?.querySelector('.cm-editor');
  const isSeen = isOutlined || (editor && getComputedStyle(editor).outlineStyle === 'solid');
  const box = e.getClientRects()[0];
  const [x, y] = [box.left + Math.min(box.width, 40) / 2, box.top + Math.min(box.height, 20) / 2];
  const top = document.elementFromPoint(x, y);
  const isCovered = !top || !(e.contains(top) || top.contains(e));
  const text = e.outerHTML.slice(0, 120);
  return { stop: window.stops.get(e) ?? text, isEditor: Boolean(editor), wrong: [...(isSeen ? [] : [`no visible focus: ${text}`]), ...(isCovered ? [`covered or outside: ${text}`] : [])] };
}

/** Tab reaches every control, in the order of the document, and one sees where it is. */
export async function isReachable(page, what) {
  const count = await page.evaluate(number);
  const reached = [];
  const wrong = [];
  let isEditor = false;
  // A date has several places to stop at in one control.
  for (let presses = 0; presses < count + 30 && reached.length < count; presses += 1) {
    // In an editor Tab is a character, unless Escape comes before it.
    if (isEditor) await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    const now = await page.evaluate(look);
    isEditor = now.isEditor;
    if (now.stop === null) break;
    if (now.stop !== reached.at(-1)) {
      reached.push(now.stop);
      wrong.push(...now.wrong);
    }
  }
  assert.deepEqual(wrong, [], `the focus on ${what}`);
  assert.deepEqual(reached, Array.from({ length: count }, (_, n) => String(n)), `what Tab reaches on ${what}`);
}

/** The first stop leads over the navigation. */
export async function canSkip(page, what) {
  await page.evaluate(number);
  await page.keyboard.press('Tab');
  const first = page.locator(':focus');
  assert.equal(await first.innerText(), 'Skip to content', what);
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', what);
}

// A real browser, the people who sit before it, and what it must never do whatever page is open.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const require = createRequire(`${process.env.NODE_FOLDER}/`);
const { chromium } = require('playwright-core');

const WIDE = { width: 1280, height: 800 };
const FAILURES = join(process.env.E2E_WORK, 'failures');

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    // The sandbox needs rights that containers don't give; only our own pages are opened.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-proxy-server'],
  });
}

/** Notes what no page may do: errors and warnings, requests to other hosts, requests that fail. */
function watch(context, origin, faults) {
  const opened = new Set();
  context.on('request', (request) => {
    if (request.isNavigationRequest()) opened.add(request.url());
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== origin) faults.push(`asked another host: ${url}`);
  });
  context.on('requestfailed', (request) => {
    // What a page had under way when it was left is no failure.
    const error = request.failure()?.errorText;
    if (error !== 'net::ERR_ABORTED') faults.push(`${request.url()}: ${error}`);
  });
  context.on('response', (response) => {
    if (response.status() >= 400 && !opened.has(response.url())) faults.push(`${response.url()}: ${response.status()}`);
  });
  context.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    // A page that is meant to be a 404 is an error to the browser. Tests check the status of pages themselves.
    if (message.text().startsWith('Failed to load resource') && opened.has(message.location().url)) return;
    faults.push(`console of ${message.page()?.url()}: ${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => faults.push(`${error.page()?.url()}: ${error.error().stack}`));
}

/** A browser with the server that `build` gives, for all tests of a file; both end with the file. */
export function suite(build) {
  const it = {};
  before(async () => {
    // Whichever there is is closed, also if the other is not.
    const browser = launch().then((launched) => { it.browser = launched; });
    const made = build().then((built) => Object.assign(it, { world: built, server: built.server }));
    const failed = (await Promise.allSettled([browser, made])).find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }, { timeout: 300_000 });
  after(async () => {
    await it.browser?.close();
    await it.world?.close();
  });
  /** A test with people before the browser: `visit(person, options)` opens a page of theirs. */
  it.test = (name, body) => test(name, { timeout: 600_000 }, () => visited(it, name, body));
  return it;
}

async function visited(it, name, body) {
  const faults = [];
  const contexts = [];
  const visit = async (person, options = {}) => {
    const context = await it.browser.newContext({ viewport: WIDE, colorScheme: 'light', reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(30_000);
    contexts.push(context);
    watch(context, it.server.url, faults);
    const page = await context.newPage();
    if (person) await signIn(page, it.server, person);
    return new Visit(page, it.server.url);
  };
  try {
    await body({ visit, world: it.world, server: it.server });
    assert.deepEqual(faults, [], 'what no page may do');
  } catch (error) {
    mkdirSync(FAILURES, { recursive: true });
    const file = join(FAILURES, name.replaceAll(/[^\w]+/g, '-'));
    const pages = contexts.flatMap((context) => context.pages());
    for (const [n, page] of pages.entries()) {
      await page.screenshot({ path: `${file}-${n}.png`, fullPage: true }).catch(() => {});
      error.message += `\n  at ${page.url()}, see ${file}-${n}.png`;
    }
    if (faults.length > 0) error.message += `\n  ${faults.join('\n  ')}`;
    throw error;
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
}

/** Signs in with the token of a person, as they do. */
async function signIn(page, server, person) {
  await page.goto(`${server.url}/sign-in?next=/roles`);
  await page.getByLabel('Token').fill(server.tokens[person]);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.url}/roles`);
}

/** A page that a person looks at. */
class Visit {
  constructor(page, origin) {
    Object.assign(this, { page, origin });
  }

  /** Opens a page of the server, which has this status. */
  async open(path, status = 200) {
    const response = await this.page.goto(this.origin + path);
    assert.equal(response.status(), status, path);
    return this.page;
  }

  /** Where the person is. */
  get path() {
    const { pathname, search } = new URL(this.page.url());
    return pathname + search;
  }

  /** The button or link with this name, below this part of the page. */
  button(name, within = this.page) {
    return within.getByRole('button', { name, exact: true });
  }

  link(name, within = this.page) {
    return within.getByRole('link', { name, exact: true });
  }

  /** Clicks, and waits for the page that it leads to. */
  async follow(locator, pattern) {
    const [response] = await Promise.all([
      this.page.waitForResponse((answer) => answer.request().isNavigationRequest() && answer.status() !== 303),
      locator.click(),
    ]);
    await this.page.waitForLoadState();
    if (pattern) assert.match(this.path, pattern);
    return response;
  }

  /** Text of the main part. */
  async text() {
    return (await this.page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
  }

  async heading() {
    return (await this.page.locator('h1').innerText()).trim();
  }

  /** The state at the head of the page, in the word of its badge. */
  async state() {
    const text = await this.page.locator('main .badge').first().innerText();
    return text.replace(/^\W+/, '');
  }

  /** What the main part has: the names of its sections, columns, facts and fields. */
  async outline() {
    const named = this.page.locator('main').locator('h1, h2, h3, th, dt, legend, summary, tbody tr');
    return named.evaluateAll((all) => all.map((e) => (e.tagName === 'TR' ? 'row' : e.textContent.replaceAll(/\s+/g, ' ').trim())));
  }

  /** Waits until the main part says this. */
  async says(...texts) {
    for (const text of texts) {
      await this.page.locator('main').getByText(text).first().waitFor({ state: 'attached' });
    }
  }
}

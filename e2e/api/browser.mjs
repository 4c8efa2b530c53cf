// A person with a real browser: signs in at the provider by clicking, reads the documentation pages, signs out.
//
//   node browser.mjs SETTINGS.json       writes what it saw to SETTINGS.json's `report`
//
// Settings: {chromium, url, issuer, user, password, folder, report, private, hold}
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(`${process.env.NODE_FOLDER}/`);
const { chromium } = require('playwright-core');
const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// Whether a request that fails is a fault; later on some are meant to.
let strict = true;
const seen = { errors: [], requests: [], foreign: [], failed: [], steps: [] };
const report = () => writeFileSync(settings.report, JSON.stringify(seen, null, 1));
// Whatever hangs, the report is written; the browser ends with this process.
setTimeout(() => {
  seen.stopped = `took too long, after ${JSON.stringify(seen.steps.at(-1))}`;
  report();
  process.exit(0);
}, 60000).unref();

const browser = await chromium.launch({
  executablePath: settings.chromium,
  // The sandbox needs rights that containers don't give; only our own pages are opened.
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-proxy-server'],
});

function watch(page) {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.errors.push(`${page.url()}: ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => seen.errors.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol === 'data:' || url.protocol === 'blob:') return;
    seen.requests.push(request.url());
    if (url.hostname !== '127.0.0.1') seen.foreign.push(`${request.url()} asked for by ${page.url()}`);
  });
  page.on('requestfailed', (request) => {
    if (strict) seen.failed.push(`${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (strict && response.status() >= 400) seen.failed.push(`${response.url()}: ${response.status()}`);
  });
}

// What of a page can be looked at without knowing it.
const look = () => {
  const style = getComputedStyle(document.body);
  const root = getComputedStyle(document.documentElement);
  const clear = (colour) => colour === 'rgba(0, 0, 0, 0)' || colour === 'transparent';
  return {
    url: location.href,
    title: document.title,
    language: document.documentElement.lang,
    headings: [...document.querySelectorAll('h1')].map((h) => h.textContent.trim()),
    text: document.body.innerText.length,
    colour: style.color,
    background: clear(style.backgroundColor) ? root.backgroundColor : style.backgroundColor,
    cookies: document.cookie,
    wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    unnamed: [...document.querySelectorAll('img:not([alt]), button, a[href], input:not([type=hidden])')]
      .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.labels?.length || e.alt || e.querySelector('[alt]')))
      .map((e) => e.outerHTML.slice(0, 120)),
    broken: [...document.querySelectorAll('a[href^="#"]')].map((a) => decodeURIComponent(a.hash.slice(1)))
      .filter((id) => id && !document.getElementById(id)),
  };
};

try {
  const context = await browser.newContext({ colorScheme: 'light', viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(15000);
  const page = await context.newPage();
  watch(page);

  await page.goto(`${settings.url}/auth/login?return_to=/docs`);
  seen.steps.push(['provider', page.url()]);
  await page.getByLabel('Name').fill(settings.user);
  await page.getByLabel('Password').fill(settings.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Agree' }).click();
  await page.waitForURL(`${settings.url}/docs*`);
  await page.waitForLoadState('networkidle');
  seen.steps.push(['docs', page.url()]);
  seen.light = await page.evaluate(look);
  await page.screenshot({ path: join(settings.folder, 'docs-light.png') });
  await page.screenshot({ path: join(settings.folder, 'docs-light-whole.png'), fullPage: true });

  seen.cookies = (await context.cookies(settings.url)).filter((c) => !c.name.startsWith('_session') && !c.name.startsWith('_interaction'));
  // As a script of the page would ask: same origin, with the cookie.
  const ask = (path, init) => page.evaluate(async ([p, i]) => {
    const answer = await fetch(p, { ...i, signal: AbortSignal.timeout(10000) });
    const text = await answer.text();
    return { status: answer.status, body: text && JSON.parse(text) };
  }, [path, init]);
  seen.session = await ask('/auth/session');
  seen.private = await ask(settings.private);
  seen.hold = await ask(settings.hold, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-csrf-token': seen.session.body.csrf },
    body: JSON.stringify({ job: 'unit', reason: 'from a browser', count: 1 }),
  });

  // The same pages in the dark, and on a telephone.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.reload({ waitUntil: 'networkidle' });
  seen.dark = await page.evaluate(look);
  await page.screenshot({ path: join(settings.folder, 'docs-dark.png') });
  await page.setViewportSize({ width: 390, height: 800 });
  seen.narrow = await page.evaluate(look);
  await page.screenshot({ path: join(settings.folder, 'docs-dark-narrow.png') });
  await page.setViewportSize({ width: 1280, height: 900 });

  // Every page that the documentation links to on this server.
  const links = await page.evaluate(() => [...new Set([...document.querySelectorAll('a[href]')].map((a) => a.href.split('#')[0]))]
    .filter((href) => href.startsWith(location.origin) && !href.includes('/auth/') && !href.includes('/stream')).slice(0, 20));
  seen.steps.push(['links', links.length]);
  seen.links = [];
  for (const link of links) {
    seen.links.push([link, (await context.request.get(link)).status()]);
  }

  strict = false;
  // Another site makes the browser post a form: the cookie is Lax, and there is no CSRF token.
  const evil = await context.newPage();
  await evil.route('http://127.0.0.1:1/', (route) => route.fulfill({
    contentType: 'text/html',
    body: `<form method="post" action="${settings.url}/auth/logout"><button>Win a prize</button></form>`,
  }));
  await evil.goto('http://127.0.0.1:1/');
  seen.steps.push(['another site', evil.url()]);
  const [answer] = await Promise.all([evil.waitForResponse((r) => r.url().endsWith('/auth/logout')), evil.getByRole('button').click()]);
  seen.forged = answer.status();
  await evil.waitForLoadState();
  seen.steps.push(['forged', seen.forged]);
  seen.still = await ask('/auth/session');

  seen.out = await page.evaluate(async (csrf) => (await fetch('/auth/logout', {
    method: 'POST', headers: { 'x-csrf-token': csrf }, redirect: 'manual', signal: AbortSignal.timeout(10000),
  })).type, seen.session.body.csrf);
  seen.left = (await context.cookies(settings.url)).filter((c) => seen.cookies.some((s) => s.name === c.name && c.value));
} catch (error) {
  seen.stopped = String(error);
  for (const [n, page] of browser.contexts().flatMap((c) => c.pages()).entries()) {
    seen.steps.push(['stopped at', page.url(), (await page.textContent('body').catch(() => '')).slice(0, 500)]);
    await page.screenshot({ path: join(settings.folder, `stopped-${n}.png`) }).catch(() => {});
  }
} finally {
  report();
  // A browser that doesn't close is ended with this process.
  await Promise.race([browser.close(), new Promise((resolve) => { setTimeout(resolve, 5000); })]);
}
process.exit(0);

// The paths of pages and forms, as the source of the pages has them: what is added there must be visited here.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PAGES = join(import.meta.dirname, '../../../crates/portcullis-web/src/pages');

/** Paths that the server has beside those of portcullis-web. */
const OTHERS = { get: ['/sign-in', '/docs', '/openapi.json', '/debug/resource-dependency-graph', '/api/**', '/assets/**', '/auth/**'], post: ['/sign-in', '/sign-out'] };

function read() {
  const routes = { get: [], post: [] };
  for (const file of readdirSync(PAGES, { recursive: true }).filter((name) => name.endsWith('.rs'))) {
    const text = readFileSync(join(PAGES, file), 'utf8');
    for (const [, kind, path] of text.matchAll(/Route::(\w+)\(\s*"([^"]+)"/g)) {
      const isKnown = ['page', 'form', 'asking'].includes(kind);
      if (!isKnown) throw new Error(`${file}: Route::${kind} is not known to the suite of the web pages`);
      if (kind !== 'form') routes.get.push(path);
      if (kind !== 'page') routes.post.push(path);
    }
  }
  return routes;
}

export const ROUTES = read();

function fits(route, path) {
  const pattern = route.replaceAll('**', '\u0000').replaceAll('*', '[^/]+').replaceAll('\u0000', '.*');
  return new RegExp(`^${pattern}$`).test(path);
}

/** The routes of pages (`get`) or forms (`post`) that a path fits. */
export function routesOf(method, path) {
  return ROUTES[method].filter((route) => fits(route, path));
}

/** Whether a link of a page leads to something that there is. */
export function isKnown(path) {
  return [...ROUTES.get, ...OTHERS.get].some((route) => fits(route, path));
}

/** Routes of forms that none of these paths fits; signing in and out are forms as well. */
export function missingForms(paths) {
  return [...ROUTES.post, ...OTHERS.post].filter((route) => !paths.some((path) => fits(route, path))).sort();
}

/** Routes of pages that none of these paths fits. */
export function missingPages(paths) {
  return ROUTES.get.filter((route) => !paths.some((path) => fits(route, path))).sort();
}

// Writes the pictures of docs/images again: pages of a server that has been busy, as one sees them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { suite } from './support/browser.mjs';
import { decisionsOf } from './support/pages.mjs';
import { output } from './support/process.mjs';
import { world } from './support/world.mjs';

const IMAGES = join(import.meta.dirname, '../../docs/images');

const WINDOW = { width: 1200, height: 750 };

/** A day of decisions, for the plots. */
const fill = ({ folder }) => output(process.env.PORTCULLIS_BENCH, ['fill', '--data-dir', join(folder, 'data'), '--decisions', '5000']);

const it = suite(async () => {
  const made = await world('images', { web: { playground: true } }, fill);
  made.decisions = await decisionsOf(made);
  return made;
});

function pictures({ decisions, jobs }) {
  return [
    { name: 'overview', path: '/', theme: 'light' },
    { name: 'decision', path: `/decisions/${decisions.denied}`, theme: 'dark' },
    { name: 'job', path: `/jobs/${jobs.preparing}`, theme: 'light' },
    { name: 'graph-path', path: '/graph?from=ConfigMap%3Arecipes%2Fferment&to=Site%3Asouth', theme: 'light' },
    { name: 'playground', path: '/playground', theme: 'dark', run: true },
    { name: 'roles', path: '/roles?permission=enqueue&tenant=shop', theme: 'light' },
  ];
}

it.test('pictures', async ({ visit, world: made }) => {
  mkdirSync(IMAGES, { recursive: true });
  for (const { name, path, theme, run } of pictures(made)) {
    const person = await visit('ada', { colorScheme: theme, viewport: WINDOW });
    const page = await person.open(path);
    if (run) await person.follow(person.button('Run'));
    await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  }
});

// Bundles the scripts of pages, compressed as they are served: `node build.mjs DECLARATIONS FOLDER`.
//
// DECLARATIONS is the `portcullis.d.ts` that policies are written with. The tests of the scripts become FOLDER/tests.

import { readFileSync, readdirSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { policyApi } from './api.mjs';

const [declarations, folder] = process.argv.slice(2);
if (!declarations || !folder) throw new Error('usage: node build.mjs DECLARATIONS FOLDER');

/** The scripts, how they are loaded, and how many bytes each may have when it is compressed. */
const SCRIPTS = [
  { name: 'theme', format: 'iife', limit: 1_000 },
  { name: 'live', format: 'esm', limit: 6_000 },
  { name: 'copy', format: 'esm', limit: 1_500 },
  { name: 'editor', format: 'esm', limit: 200_000 },
];

/** Licences that allow to ship the code with this program, if it is named. */
const LICENCES = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync('src/editor/policy-api.json', JSON.stringify(policyApi(readFileSync(declarations, 'utf8'))));

for (const { name, format, limit } of SCRIPTS) {
  const made = await build({
    entryPoints: [`src/${name}.ts`],
    bundle: true,
    format,
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const text = notices(Object.keys(made.metafile.inputs)) + made.outputFiles[0].text;
  const compressed = gzipSync(text, { level: 9 });
  if (compressed.length > limit) throw new Error(`${name}.js has ${compressed.length} bytes, more than ${limit}`);
  writeFileSync(join(folder, `${name}.js.gz`), compressed);
  console.log(`${name}.js: ${text.length} bytes, ${compressed.length} compressed`);
}

await build({
  entryPoints: readdirSync('test').map((file) => join('test', file)),
  outdir: join(folder, 'tests'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
});

/** The licences of the packages that are part of a bundle, as a comment at its beginning. */
function notices(inputs) {
  const folders = inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean);
  const texts = new Map();
  for (const found of [...new Set(folders)].sort()) {
    const { name, license } = JSON.parse(readFileSync(join(found, 'package.json'), 'utf8'));
    if (!LICENCES.includes(license)) throw new Error(`${name} has the licence ${license}: expected one of ${LICENCES.join(', ')}`);
    const file = readdirSync(found).find((one) => /^licen[cs]e/i.test(basename(one)));
    if (!file) throw new Error(`${name} has no file with its licence`);
    const text = readFileSync(join(found, file), 'utf8').trim().replaceAll('*/', '* /');
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts].map(([text, names]) => `/*! ${names.join(', ')}\n\n${text}\n*/\n`).join('');
}

// The real program in a folder of its own, and calls of its doors as programs make them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { Process, freePort, output } from './process.mjs';

const PROGRAM = process.env.PORTCULLIS;
const WORK = process.env.E2E_WORK;

/** The people of the suite, by the groups in their tokens; TENANTS says what the groups may do. */
export const PEOPLE = {
  ada: ['administrators'],
  rita: ['auditors'],
  max: ['shop-team'],
  nina: [],
};

export const TENANTS = `
- authorization-rule: {name: administrators, conditions: [{groups: administrators}]}
- authorization-rule: {name: auditors, conditions: [{groups: auditors}]}
- authorization-rule: {name: shop-team, conditions: [{groups: shop-team}]}
- role: {name: auditor, permissions: {read: true, read-decisions: true, read-graph: true}}
- role:
    name: shop-developer
    permissions:
      read: true
      submit-job: true
      retry-job: {conditions: {ref: [main, "glob:feature/*"]}}
      cancel-job: {conditions: {project: "glob:shop/*"}}
- tenant:
    name: shop
    anonymous-read-access: false
    projects: ["shop/**"]
    role-mappings: {administrators: admin, auditors: auditor, shop-team: shop-developer}
- tenant:
    name: plant
    anonymous-read-access: false
    projects: ["plant/**"]
    role-mappings: {administrators: admin, auditors: auditor}
- api-root:
    anonymous-read-access: false
    role-mappings: {administrators: admin, auditors: auditor}
`;

export class Server {
  /** Starts it with these keys besides the listener and who may do what, and these files beside its configuration. */
  static async start(name, { config = {}, files = {}, fill } = {}) {
    const server = new Server();
    server.folder = join(WORK, name);
    rmSync(server.folder, { recursive: true, force: true });
    mkdirSync(join(server.folder, 'data'), { recursive: true });
    const port = await freePort();
    server.url = `http://127.0.0.1:${port}`;
    const all = {
      listeners: [{ name: 'all', tcp: `127.0.0.1:${port}`, serves: ['kubernetes', 'api', 'ci', 'web', 'health'] }],
      tenants: { file: 'tenants.yaml' },
      authenticators: [{ name: 'corp', driver: 'HS256', issuer: 'corp', audience: 'portcullis', realm: 'corp', secretFile: 'corp.key' }],
      shutdown: { delay: '0ms', grace: '5s' },
      ...config,
    };
    server.write('portcullis.yaml', JSON.stringify(all, null, 1));
    server.write('tenants.yaml', TENANTS);
    server.write('corp.key', randomBytes(32).toString('base64'), 0o600);
    for (const [file, text] of Object.entries(files)) server.write(file, text);
    if (fill) await fill(server);
    server.tokens = {};
    for (const [person, groups] of Object.entries(PEOPLE)) server.tokens[person] = await server.newToken(person, groups);
    const args = ['serve', '--config', 'portcullis.yaml', '--data-dir', 'data'];
    server.process = new Process(PROGRAM, args, { log: join(server.folder, 'serve.log'), cwd: server.folder });
    try {
      await server.process.until(`${name} is ready`, () => fetch(`${server.url}/readyz`).then((answer) => answer.ok, () => false));
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  write(file, text, mode = 0o644) {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text, { mode });
  }

  newToken(person, groups, lifetime = '1h') {
    return output(PROGRAM, ['token', 'create', '--config', 'portcullis.yaml', '--subject', person,
      '--claim', `preferred_username=${person}`, '--claim', `groups=${JSON.stringify(groups)}`, '--expires-in', lifetime], { cwd: this.folder });
  }

  /** A call as a program makes it; answers what was answered. */
  async call(method, path, { body, token = this.tokens.ada, headers = {} } = {}) {
    const isText = typeof body === 'string';
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || isText ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    let value = text;
    try {
      value = text && JSON.parse(text);
    } catch { /* It is a text. */ }
    return { status: answer.status, value };
  }

  /** The same, which succeeds. */
  async ask(method, path, options) {
    const { status, value } = await this.call(method, path, options);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(value)}`);
    return value;
  }

  get(path) {
    return this.ask('GET', path);
  }

  post(path, body, more) {
    return this.ask('POST', path, { body, ...more });
  }

  /** Ends it; what it did wrong is a failure. */
  async stop() {
    await this.process.stop();
    assert.doesNotMatch(this.process.text(), /panicked/, `${this.folder}/serve.log`);
  }
}

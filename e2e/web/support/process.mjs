// Processes of the suite: each writes to a log of its own and ends with the suite, even if that is killed.
// What they are is not known here.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a program printed that ends by itself. */
export async function output(program, args, options = {}) {
  const { stdout } = await run(program, args, { timeout: 300_000, ...options });
  return stdout.trim();
}

/** The first true value of `look`. */
export async function until(what, look, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never happened within ${seconds} s: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 30); });
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A process that is ended by its id. */
export class Process {
  constructor(program, args, { log, cwd }) {
    this.log = log;
    const file = openSync(log, 'a');
    // The kernel ends it when this process is gone. setpriv becomes the program, so the id is the program's.
    this.child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { cwd, stdio: ['ignore', file, file] });
    this.ended = once(this.child, 'exit');
    closeSync(file);
  }

  get isAlive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  text() {
    return readFileSync(this.log, 'utf8');
  }

  /** Waits for something that the process does; fails at once if it has ended. */
  async until(what, look) {
    return until(what, async () => {
      if (!this.isAlive) throw new Error(`${what}: the process has ended:\n${this.text().slice(-2000)}`);
      return look();
    }, 180);
  }

  async stop() {
    if (!this.isAlive) return;
    this.child.kill('SIGTERM');
    const patience = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await this.ended;
    clearTimeout(patience);
  }
}

// A runner that does what a test tells it to, in the protocol of GitLab's runners.
import assert from 'node:assert/strict';

/** Registers one; answers it. */
export async function register(server, description, tags, more = {}) {
  const made = await server.post('/api/v4/user/runners', { runner_type: 'instance_type', tag_list: tags, description, ...more });
  return new Runner(server, made);
}

class Runner {
  constructor(server, { id, token }) {
    Object.assign(this, { server, id, token });
  }

  /** Takes this job, which must be the next one for this runner. */
  async take(job) {
    const body = { token: this.token, system_id: 's_1', info: { name: 'gitlab-runner', version: '17.1.0', platform: 'linux', architecture: 'amd64' } };
    const given = await this.server.ask('POST', '/api/v4/jobs/request', { body, token: null });
    assert.equal(given.id, job);
    const run = new Run(this.server, given);
    await run.report('running');
    return run;
  }
}

class Run {
  written = 0;

  constructor(server, { id, token }) {
    Object.assign(this, { server, id, token });
  }

  report(state, more = {}) {
    return this.server.ask('PUT', `/api/v4/jobs/${this.id}`, { body: { token: this.token, state, ...more }, token: null });
  }

  /** Sends the next piece of its output. */
  async write(text) {
    const end = this.written + Buffer.byteLength(text);
    const headers = { 'job-token': this.token, 'content-type': 'text/plain', 'content-range': `${this.written}-${end - 1}` };
    await this.server.ask('PATCH', `/api/v4/jobs/${this.id}/trace`, { body: text, headers, token: null });
    this.written = end;
  }
}

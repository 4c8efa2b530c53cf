// An admission controller as others run them: a webhook that looks at the ref of a job.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Judges by the ref: `frozen/` is denied, `flaky/` is a failure of the webhook itself, `later/` is left open; all else is accepted. */
function judge({ id, ref }) {
  if (ref.startsWith('flaky/')) return [500, 'out of order'];
  if (ref.startsWith('later/')) return [202, ''];
  const isDenied = ref.startsWith('frozen/');
  const verdict = isDenied ? { admission: 'denied', reason: `${ref} is frozen until Monday` } : { admission: 'accepted', reason: 'inside the change window' };
  return [200, JSON.stringify([{ id, ...verdict }])];
}

/** Starts it; it ends with this process, or by `close`. */
export async function startWebhook() {
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const [status, text] = judge(JSON.parse(Buffer.concat(parts))[0]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address, url: `http://${address}/jobs`, close };
}

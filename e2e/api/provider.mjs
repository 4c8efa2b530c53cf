// An OpenID Connect provider on loopback: oidc-provider with the clients and accounts of a file, and plain pages to
// sign in and to agree on. Its keys are new with every start.
//
//   node provider.mjs SETTINGS.json      prints "listening" when it is
//
// Settings: {port, clients: [...], accounts: {name: {password, claims}}, robots: {client: claims},
//            claimsInIdToken: bool, algorithm: RS256|ES256}
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.NODE_FOLDER}/`);
const { default: Provider, errors } = await import(pathToFileURL(require.resolve('oidc-provider')));

const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const algorithm = settings.algorithm ?? 'RS256';
const issuer = `http://127.0.0.1:${settings.port}`;

function signingKey() {
  const { privateKey } = algorithm === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: algorithm, use: 'sig' };
}

const forPortcullis = {
  scope: '', audience: 'portcullis', accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: algorithm } },
};

const provider = new Provider(issuer, {
  clients: settings.clients.map((client) => ({ id_token_signed_response_alg: algorithm, ...client })),
  jwks: { keys: [signingKey()] },
  cookies: { keys: [randomUUID()] },
  pkce: { required: () => true },
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups', 'name'], email: ['email'] },
  conformIdTokenClaims: !settings.claimsInIdToken,
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    // Clients that act for themselves get signed access tokens for Portcullis; everybody else gets opaque ones.
    resourceIndicators: {
      enabled: true,
      defaultResource: (_ctx, client) => (client.clientId in settings.robots ? 'urn:portcullis' : undefined),
      useGrantedResource: () => true,
      getResourceServerInfo: () => forPortcullis,
    },
  },
  extraTokenClaims: (_ctx, token) => settings.robots[token.clientId] ?? settings.accounts[token.accountId]?.claims,
  ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Interaction: 600, Session: 3600, Grant: 3600, ClientCredentials: 600,
    RefreshToken: 3600, DeviceCode: settings.deviceCodeTTL ?? 300, ...settings.ttl },
  findAccount: (_ctx, name) => settings.accounts[name] && {
    accountId: name,
    claims: () => ({ sub: name, ...settings.accounts[name].claims }),
  },
});
// What zuul-client does with a name and a password: the provider's oldest grant, for a token that is for Portcullis.
provider.registerGrantType('password', async (ctx) => {
  const { username, password } = ctx.oidc.params;
  const { AccessToken, ResourceServer } = provider;
  if (!password || settings.accounts[username]?.password !== password) throw new errors.InvalidGrant('wrong name or password');
  const token = new AccessToken({ accountId: username, client: ctx.oidc.client, gty: 'password', grantId: randomUUID() });
  token.resourceServer = new ResourceServer('urn:portcullis', forPortcullis);
  ctx.body = { access_token: await token.save(), expires_in: token.expiration, token_type: token.tokenType };
}, ['username', 'password']);

provider.on('server_error', (_ctx, error) => console.error('server_error', error));
for (const event of ['authorization.error', 'grant.error']) {
  provider.on(event, (_ctx, error) => console.error(event, error.error, error.error_description, error.error_detail ?? ''));
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function page(title, action, fields, button) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="icon" href="data:,"></head><body><main><h1>${title}</h1><form method="post" action="${escaped(action)}">
${fields}<button type="submit">${button}</button></form><p><a href="${escaped(action)}/abort">Cancel</a></p></main></body></html>`;
}

async function form(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return new URLSearchParams(body);
}

// What the person agrees to: everything the client has asked for.
async function granted({ prompt: { details }, params, session, grantId }) {
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope.join(' '));
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  return grant.save();
}

async function interact(request, response) {
  const details = await provider.interactionDetails(request, response);
  const finish = (result) => provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  const action = `/interaction/${details.uid}`;
  const html = (status, text) => response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(text);
  const login = (status, note) => html(status, page('Sign in to the provider', action, `${note}
<p><label>Name <input name="login" autocomplete="off"></label></p>
<p><label>Password <input name="password" type="password" autocomplete="off"></label></p>`, 'Sign in'));
  if (request.url.endsWith('/abort')) {
    return finish({ error: 'access_denied', error_description: 'the person went away' });
  }
  if (details.prompt.name === 'login') {
    if (request.method !== 'POST') return login(200, '');
    const said = await form(request);
    const account = settings.accounts[said.get('login')];
    if (!account || account.password !== said.get('password')) return login(403, '<p>Wrong name or password.</p>');
    return finish({ login: { accountId: said.get('login') } });
  }
  if (request.method !== 'POST') {
    return html(200, page('Let it know who you are?', action, `<p>${escaped(details.params.client_id)} asks for: ${escaped(details.params.scope)}</p>`, 'Agree'));
  }
  await form(request);
  return finish({ consent: { grantId: await granted(details) } });
}

const answer = provider.callback();
createServer((request, response) => {
  if (!request.url.startsWith('/interaction/')) return answer(request, response);
  return interact(request, response).catch((error) => {
    console.error(error);
    response.writeHead(400, { 'content-type': 'text/plain' }).end(String(error));
  });
}).listen(settings.port, '127.0.0.1', () => console.log('listening'));

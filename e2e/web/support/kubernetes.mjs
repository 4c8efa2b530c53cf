// What an API server asks: reviews of objects, and whether a user may do something.

let reviews = 0;

export function pod(name, image, labels = {}) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', labels }, spec: { containers: [{ name: 'main', image }] } };
}

/** Lets the server judge an object that is created; answers its response. */
export async function admit(server, object, user = 'dev@corp') {
  reviews += 1;
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : '';
  const version = object.apiVersion.split('/').at(-1);
  const { kind } = object;
  const resource = { group, version, resource: `${kind.toLowerCase()}s` };
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `review-${reviews}`, kind: { group, version, kind }, resource, requestKind: { group, version, kind }, requestResource: resource,
      name: object.metadata.name, namespace: object.metadata.namespace, operation: 'CREATE',
      userInfo: { username: user, groups: ['developers', 'system:authenticated'] }, object, dryRun: false,
    },
  };
  return (await server.post('/mutate', review, { token: null })).response;
}

/** Asks whether a user may get something; answers the status. */
export async function authorize(server, user, groups, resourceAttributes) {
  const review = {
    apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: { user, groups, resourceAttributes: { verb: 'get', ...resourceAttributes } },
  };
  return (await server.post('/authorize', review, { token: null })).status;
}

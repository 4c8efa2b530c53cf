// Everything that policies and their tests can use. For editors and `tsc`; Portcullis itself does not read
// this file. `portcullis init` creates it in a new folder.

// ---- what is judged ---------------------------------------------------------------------------

/** An object of the API, or a CI job. What a policy changes in it is what the server patches. */
interface PolicyObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    generateName?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [key: string]: any;
  };
  spec?: any;
  [key: string]: any;
}

/** The object as it is requested; null on DELETE. */
declare const object: PolicyObject;
/** The existing object; null on CREATE. */
declare const oldObject: PolicyObject;

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
  Group: string;
  Version: string;
  Kind: string;
}

interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
  Group: string;
  Version: string;
  Resource: string;
}

interface UserInfo {
  username: string;
  uid: string;
  groups: string[];
  extra: Record<string, string[]>;
  Username: string;
  UID: string;
  Groups: string[];
  Extra: Record<string, string[]>;
}

type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The request, under the names of JSON and under those of Go. */
interface PolicyRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource: string;
  readonly requestKind: GroupVersionKind | null;
  readonly requestResource: GroupVersionResource | null;
  readonly requestSubResource: string;
  readonly name: string;
  readonly namespace: string;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  readonly dryRun: boolean;
  readonly options: any;
  /** The same as `object` and `oldObject`. */
  readonly object: PolicyObject;
  readonly oldObject: PolicyObject;
  /** The bytes of their JSON, as they came. */
  readonly Object: { readonly Raw: number[] };
  readonly OldObject: { readonly Raw: number[] };
  readonly UID: string;
  readonly Kind: GroupVersionKind;
  readonly Resource: GroupVersionResource;
  readonly SubResource: string;
  readonly RequestKind: GroupVersionKind | null;
  readonly RequestResource: GroupVersionResource | null;
  readonly RequestSubResource: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Operation: Operation;
  readonly UserInfo: UserInfo;
  readonly DryRun: boolean;
  readonly Options: any;
}

declare const req: PolicyRequest;
/** The same, under jsPolicy's name. */
declare const request: PolicyRequest;

/** What the admission controller knows of the call. */
interface AdmissionContext {
  readonly Timestamp: string;
  /** Who called: a process behind a unix socket, the subject of a client certificate, or null. */
  readonly User: any;
  readonly UserAuthNMethod: "unix-domain-socket" | "mTLS" | "";
  readonly RequestPeerCertificates: any[];
  readonly HTTPRequest: {
    readonly Method: string;
    readonly RequestURI: string;
    readonly RequestUri: string;
    readonly Host: string;
    readonly RemoteAddr: string;
    readonly URL: {
      readonly Path: string;
      readonly RawPath: string;
      readonly RawQuery: string;
      Query(): { Get(name: string): string; Has(name: string): boolean; [name: string]: any };
    };
    readonly Header: { Get(name: string): string; Values(name: string): string[]; [name: string]: any };
  };
  /** Kept between reviews; plain JSON. */
  GlobalContext: any;
}

declare const ac: AdmissionContext;

// ---- what a policy says -------------------------------------------------------------------------

/** true allows, false or a text denies, nothing means no opinion. */
type PolicyVerdict = boolean | string | undefined | void;

/** Ends the policy: the request is allowed, later policies are not asked. */
declare function allow(reason?: string): never;
/** Ends the policy: the request is denied. */
declare function deny(message: string, reason?: string, code?: number): never;
/** Adds a warning to the answer, and goes on. */
declare function warn(message: string): void;
/** Ends the policy: `object` becomes the object, and the patch is what differs. No opinion. */
declare function mutate(object: object): never;
/** Ends the policy without an opinion. */
declare function exit(): never;

/** A label selector of Kubernetes. All of it must be met. */
interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: "In" | "NotIn" | "Exists" | "DoesNotExist"; values?: string[] }[];
}

/** What a policy file says of itself: `export const policy: Policy = {...}`, a plain literal. */
interface Policy {
  /** Which requests it is asked about. Every key must fit; of a list, one entry must. */
  match?: {
    operations?: (Operation | "*")[];
    /** `Pod`, `apps/Deployment`, `apps/v1/Deployment`. */
    kinds?: string[];
    /** `pods`, `deployments.apps`, `deployments.v1.apps`, `pods/exec`. */
    resources?: string[];
    scope?: "Namespaced" | "Cluster";
    /** Patterns: `*` stops at `/`, `**` does not. */
    namespaces?: string[];
    /** Labels of the object; on DELETE of the old one. */
    labels?: Record<string, string>;
    /** As in Kubernetes: labels of the object, as it is or as it was. */
    objectSelector?: LabelSelector;
    /** As in Kubernetes: labels of the namespace of the object, or of the namespace that it is. */
    namespaceSelector?: LabelSelector;
    /** With `Exact`, `kinds` and `resources` must also fit what was asked for before it was converted. */
    matchPolicy?: "Equivalent" | "Exact";
    paths?: string[];
    /** `kubernetes` by default. */
    doors?: ("kubernetes" | "ci")[];
  };
  /** `warn` turns a denial into a warning, `dry-run` only records it. */
  mode?: "enforce" | "warn" | "dry-run";
  /** What it is for, in a sentence; like the following, for reports. */
  description?: string;
  severity?: "low" | "medium" | "high" | "critical";
  category?: string;
  /** A page that says more: `https://...`. */
  link?: string;
}

// ---- what else there is -------------------------------------------------------------------------

interface PolicyConsole {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
}
declare const console: PolicyConsole;
/** The same as `console.log`. */
declare function print(...values: unknown[]): void;
declare function atob(data: string): string;
declare function btoa(data: string): string;

// Host calls. They throw if they have no certain answer.

/** Runs `cosign verify` for each image of the pod; throws if one is not signed with this key. */
declare function cosignVerify(keyPath: string): Record<string, CosignSignature[]>;
/** A signature as `cosign verify` prints it. */
interface CosignSignature {
  critical: { identity: any; image: { "docker-manifest-digest": string }; type: string };
  optional: any;
}
/**
 * Writes the digests that were verified into the images of the object, `name:tag@sha256:...`, so that what is
 * pulled is what was verified. Throws, and writes nothing, if one of its images was not verified.
 */
declare function pinDigests(object: PolicyObject, verified: Record<string, CosignSignature[]>): void;
/** Runs `slsa-verifier` for each image of the pod; throws if one does not pass. */
declare function slsaVerify(options: { SourceURI: string; BuilderID: string; ProvenancePath: string }): true;
/** Whether every image of the pod is built from one of these repositories. */
declare function slsaEnsureComingFrom(repositories: string[]): boolean;
/** Asks another admission controller: true, or why it denies. `current` sends the object as it is now. */
declare function forwardToAdmissionController(url: string, options?: { current?: boolean }): true | string;

/** An object of the cluster. It can't be changed. */
interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [key: string]: any;
  };
  readonly [key: string]: any;
}
/** The objects of the cluster that the server watches: those of the kinds in `kube.kinds` of the configuration. */
interface Cluster {
  /** The object, or null if there is none. Throws if that is not known. */
  get(apiVersion: string, kind: string, namespace: string | null | undefined, name: string): ClusterObject | null;
  /** The same for objects without a namespace. */
  get(apiVersion: string, kind: string, name: string): ClusterObject | null;
  /** All objects, or those of a namespace or with certain labels (`app=web,tier in (a,b)`), sorted by namespace and name. */
  list(apiVersion: string, kind: string, options?: { namespace?: string; labelSelector?: string; limit?: number }): readonly ClusterObject[];
}
declare const kube: Cluster;
/** `kube.get` under jsPolicy's name: `NAMESPACE/NAME`, or `NAME` without a namespace; undefined if there is none. */
declare function get(kind: string, apiVersion: string, name: string): ClusterObject | undefined;
/** `kube.list` under jsPolicy's name. */
declare function list(
  kind: string,
  apiVersion: string,
  options?: { namespace?: string; labelSelector?: string },
): readonly ClusterObject[];

// ---- tests: *.test.ts -----------------------------------------------------------------------------

interface Test {
  (name: string, body: () => void | Promise<void>): void;
  skip(name: string, body: () => void | Promise<void>): void;
}
interface Describe {
  (name: string, body: () => void): void;
  skip(name: string, body: () => void): void;
}
declare const test: Test;
declare const it: Test;
declare const describe: Describe;
declare function beforeEach(body: () => void | Promise<void>): void;

interface Matchers {
  toBe(wanted: unknown): void;
  toEqual(wanted: unknown): void;
  toMatchObject(wanted: object): void;
  toMatch(pattern: string | RegExp): void;
  toContain(part: unknown): void;
  toContainEqual(part: unknown): void;
  toHaveLength(length: number): void;
  toHaveProperty(key: string): void;
  toBeTruthy(): void;
  toBeFalsy(): void;
  toBeNull(): void;
  toBeUndefined(): void;
  toBeDefined(): void;
  toBeGreaterThan(bound: number): void;
  toBeLessThan(bound: number): void;
  toThrow(pattern?: string | RegExp): void;
}
declare function expect(value: unknown): Matchers & { not: Matchers };

interface ReviewOptions {
  operation?: Operation;
  oldObject?: any;
  user?: string;
  groups?: string[];
  /** For an object that names none. */
  namespace?: string;
  namespaceLabels?: Record<string, string>;
  /** Objects of the cluster, for `kube.get`, `kube.list` and plug-ins. */
  kube?: object[];
  dryRun?: boolean;
}
interface ReviewAnswer {
  allowed: boolean;
  /** Why not; empty if allowed. */
  message: string;
  /** The policy or plug-in that denied. */
  policy: string | null;
  /** Denied only because no decision could be made: an error or a limit. */
  undecided: boolean;
  warnings: string[];
  patch: { op: "add" | "remove" | "replace"; path: string; value?: any }[];
  /** The object after patching; null when it is deleted. */
  object: any;
}
/** Asks the whole chain of the configuration, as the server would. */
declare function review(object: any, options?: ReviewOptions): ReviewAnswer;

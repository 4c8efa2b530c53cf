// Helpers for policies about pods. Files in lib/ are imported; they are no policies themselves.

/** The part of an object that describes pods: its own, or that of the pods it makes. */
export function podSpec(object: PolicyObject): any {
  if (object.kind === "Pod") return object.spec;
  if (object.kind === "CronJob") return object.spec?.jobTemplate?.spec?.template?.spec;
  return object.spec?.template?.spec;
}

/** All containers, those that only run at the beginning included. */
export function containers(object: PolicyObject): { name: string; image: string; resources?: any }[] {
  const spec = podSpec(object);
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}

/** `1.27` of `registry.example:5000/nginx:1.27`; nothing if the image names no tag. */
export function tagOf(image: string): string | undefined {
  const name = image.split("@")[0].split("/").pop() ?? "";
  const colon = name.indexOf(":");
  return colon < 0 ? undefined : name.slice(colon + 1);
}

/** Whether the image is the same tomorrow: it has a digest, or a tag other than `latest`. */
export function isPinned(image: string): boolean {
  const tag = tagOf(image);
  return image.includes("@") || (tag !== undefined && tag !== "latest");
}

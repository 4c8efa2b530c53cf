import { parse } from "./lib/images.ts";

export const policy = { match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] } };

const trusted: string[] = ["registry.example"];

interface Container {
  name: string;
  image: string;
}

export default function () {
  const { containers, initContainers = [], ephemeralContainers = [] } = object.spec as Record<string, Container[]>;
  for (const container of [...initContainers, ...containers, ...ephemeralContainers]) {
    const { registry } = parse(container.image);
    if (!trusted.includes(registry)) {
      deny(`${container.name}: images come from ${trusted.join(", ")}, not from ${registry}`, "UntrustedRegistry");
    }
  }
}

import { parse } from "./lib/images.ts";

export const policy = { match: { kinds: ["Pod"], operations: ["CREATE", "UPDATE"] } };

const trusted: string[] = ["registry.example"];

interface Container {
  name: string;
  image: string;
}

export default function () {
  const { containers, initContainers = [] } = object.spec as { containers: Container[]; initContainers?: Container[] };
  for (const container of [...initContainers, ...containers]) {
    const { registry } = parse(container.image);
    if (!trusted.includes(registry)) {
      deny(`${container.name}: images come from ${trusted.join(", ")}, not from ${registry}`, "UntrustedRegistry");
    }
  }
}

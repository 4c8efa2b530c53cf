/** An image, taken apart. */
export interface Image {
  registry: string;
  name: string;
}

/** `registry.example/shop/web:1` is `shop/web` of `registry.example`. */
export function parse(image: string): Image {
  const slash = image.indexOf("/");
  const first = slash < 0 ? "" : image.slice(0, slash);
  const isRegistry = first.includes(".") || first.includes(":") || first === "localhost";
  return isRegistry
    ? { registry: first, name: image.slice(slash + 1) }
    : { registry: "docker.io", name: image };
}

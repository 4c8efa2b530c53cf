// The fields of a form as text for the fragment of a link, which browsers never send to a server: JSON, compressed, in
// base64url. Links come from strangers, so everything about them is checked and limited.

/** Name and value. */
export type Field = [name: string, value: string];

/** What is wrong with a link, for people. */
export class LinkError extends Error {}

/** Characters of a link, after `#p=`. */
export const LONGEST = 64 * 1024;

/** Bytes that it may stand for. */
const LARGEST = 1024 * 1024;

/** Fields that it may fill in. */
const MOST = 64;

/** Fields as text. */
export async function encode(fields: readonly Field[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  const packed = await collect(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")), Infinity);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  const text = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (text.length > LONGEST) throw new LinkError("this is too large for a link");
  return text;
}

/** The fields that a text stands for. */
export async function decode(text: string): Promise<Field[]> {
  if (text.length > LONGEST) throw new LinkError("the link is too long");
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new LinkError("the link is incomplete or malformed");
  let value: unknown;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await collect(stream, LARGEST)));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("the link is incomplete or malformed");
  }
  if (!Array.isArray(value) || value.length > MOST || !value.every(isField)) {
    throw new LinkError("the link is of another kind");
  }
  return value;
}

function isField(value: unknown): value is Field {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
}

/** All bytes of a stream; stops reading at a limit. */
async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      throw new LinkError("the link stands for too much text");
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

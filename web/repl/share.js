// Programs in the address: `#code=` and the program's UTF-8 bytes, deflated (raw), in base64url;
// or `#example=` and the name of a file in `examples/`.

export async function toFragment(source) {
  const bytes = await transform(new TextEncoder().encode(source), new CompressionStream("deflate-raw"));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return "#code=" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Returns what the fragment of an address opens: `{code}`, `{example}` or, of other ones, `{}`. */
export async function fromFragment(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  const example = parameters.get("example");
  const code = parameters.get("code");
  if (example !== null) {
    return { example };
  }
  return code === null ? {} : { code: await inflate(code) };
}

async function inflate(code) {
  try {
    const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const source = await transform(bytes, new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(source);
  } catch {
    throw new Error("The program in this link is damaged: a part of the link may be missing.");
  }
}

async function transform(bytes, stream) {
  const response = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}

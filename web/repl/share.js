// Programs in the address: `#code=` and the program's UTF-8 bytes, deflated (raw), in base64url;
// or `#example=` and the name of a file in `examples/`.

const LONGEST_PROGRAM = 1_000_000; // bytes; a short link may be one of gigabytes

export async function toFragment(source) {
  const text = new TextEncoder().encode(source);
  if (text.length > LONGEST_PROGRAM) {
    throw new Error("The program is too long for a link. It can be downloaded below, under “Files”.");
  }
  const bytes = await transform(text, new CompressionStream("deflate-raw"));
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
    const source = await transform(bytes, new DecompressionStream("deflate-raw"), LONGEST_PROGRAM);
    return new TextDecoder("utf-8", { fatal: true }).decode(source);
  } catch (error) {
    if (error instanceof RangeError) {
      throw error;
    }
    throw new Error("The program in this link is damaged: a part of the link may be missing.");
  }
}

async function transform(bytes, stream, longest = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const chunks = [];
  let count = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    count += part.value.length;
    if (count > longest) {
      reader.cancel();
      throw new RangeError("The program in this link is too long to be opened.");
    }
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

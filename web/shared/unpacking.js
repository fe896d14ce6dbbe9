// The worker in which a snapshot is unpacked, because that keeps a thread busy (`snapshot.js`).
//
// It gets the packed bytes in pieces, and null after the last. It answers with the unpacked bytes, and
// the SHA-256 of the packed ones. Of what cannot be unpacked it says the SHA-256 alone.

const { readable, writable } = new DecompressionStream("gzip");
const writer = writable.getWriter();
const pieces = [];
const unpacking = new Response(readable).arrayBuffer().catch(() => new ArrayBuffer(0));
const ignore = () => {}; // `unpacking` fails, too

addEventListener("message", async ({ data: piece }) => {
  if (piece !== null) {
    pieces.push(piece);
    writer.write(piece).catch(ignore);
    return;
  }
  writer.close().catch(ignore);
  const [digest, bytes] = await Promise.all([sha256(new Blob(pieces)), unpacking]);
  postMessage({ bytes, digest }, [bytes]);
});

async function sha256(blob) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

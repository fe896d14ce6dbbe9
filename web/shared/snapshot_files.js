// Fetches what a start from a snapshot needs; unpacks and verifies the snapshot's memory.

import { bytesOf, fetchBytes } from "./downloads.js";

/**
 * Returns promises of the snapshot's memory, and of the archive's bytes.
 * @param {{href: string, size: number, sha256: string, unpackedSize: number}} heap
 * @param {{href: string, size: number}} archive
 * @param {(href: string, count: number) => void} onBytes is called as bytes of a file arrive.
 * @param {AbortSignal} signal stops the downloads
 */
export function fetchSnapshotFiles(heap, archive, onBytes, signal) {
  const fetchCounted = ({ href, size }, onChunk = () => {}) =>
    fetchBytes(
      new URL(href),
      size,
      (count, chunk) => {
        onBytes(href, count);
        onChunk(chunk);
      },
      signal,
    );
  return { heap: fetchHeap(heap, fetchCounted), archive: fetchCounted(archive) };
}

// Unpacks the memory while the rest of it is downloaded.
async function fetchHeap(heap, fetchCounted) {
  const { readable, writable } = new DecompressionStream("gzip");
  const unpacking = bytesOf(readable, heap.unpackedSize);
  unpacking.catch(() => {}); // awaited below
  const writer = writable.getWriter();
  writer.closed.catch(() => {}); // `unpacking` has its error
  const packed = await fetchCounted(heap, (chunk) => writer.write(chunk).catch(() => {}));
  writer.close().catch(() => {});
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", packed));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== heap.sha256) throw new Error("its SHA-256 is not the one of this build");
  return unpacking;
}

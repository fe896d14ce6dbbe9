// Fetching the site's files, and how far that has come.

/** Fetches a file, or throws a sentence that says why it can't be had. */
export async function fetchFile(url, options = {}) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const offline = navigator.onLine === false ? " This device is offline." : "";
    throw new Error(`${url.pathname} could not be loaded: the network failed.${offline}`);
  }
  if (!response.ok) {
    throw new Error(`${url.pathname} could not be loaded: ${response.status} ${response.statusText}`);
  }
  return response;
}

/**
 * Fetches a file, which must have `size` bytes.
 * @param {(count: number, chunk: Uint8Array) => void} onChunk is called with the number of bytes so far and
 *   the newest of them.
 */
export async function fetchBytes(url, size, onChunk, signal) {
  const { body } = await fetchFile(url, { signal });
  return bytesOf(body, size, onChunk).catch((error) => {
    throw new Error(`${url.pathname} could not be loaded: ${error.message}`);
  });
}

/** Returns all bytes of a stream, which must have `size` of them. */
export async function bytesOf(stream, size, onChunk = () => {}) {
  const bytes = new Uint8Array(size);
  const reader = stream.getReader();
  let count = 0;
  for (let next; !(next = await reader.read()).done; ) {
    const { value } = next;
    if (count + value.length > size) {
      reader.cancel().catch(() => {});
      throw new Error(`it has more than ${size} bytes`);
    }
    bytes.set(value, count);
    count += value.length;
    onChunk(count, value);
  }
  if (count < size) throw new Error(`it ended after ${count} of ${size} bytes`);
  return bytes;
}

/** Counts the bytes of a start's files; `sizes` has those of each by its URL. */
export class Downloads {
  constructor(sizes, onBytes) {
    this.total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    this.loaded = {};
    this.sizes = sizes;
    this.onBytes = onBytes;
    // Pyodide fetches its files by itself; the browser tells when each has come.
    this.observer = new PerformanceObserver((list) => this.#noteLoaded(list.getEntries()));
    this.observer.observe({ type: "resource", buffered: true });
  }

  /** Notes how many bytes of a file have arrived. */
  note(href, count) {
    if (count <= (this.loaded[href] ?? 0)) return;
    this.loaded[href] = count;
    const loaded = Object.values(this.loaded).reduce((sum, size) => sum + size, 0);
    this.onBytes(loaded, this.total);
  }

  /** Ends the counting. */
  close() {
    this.observer.disconnect();
  }

  #noteLoaded(entries) {
    for (const { name } of entries) {
      if (name in this.sizes) this.note(name, this.sizes[name]);
    }
  }
}

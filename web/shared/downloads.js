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

/** Returns all bytes of a stream. */
export async function bytesOf(stream) {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Counts the bytes of a start's files; `sizes` has those of each by its URL. */
export class Downloads {
  constructor(sizes, onBytes) {
    this.total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    this.loaded = {};
    this.sizes = sizes;
    this.onBytes = onBytes;
    // Pyodide fetches most files by itself; the browser tells when each has come.
    this.observer = new PerformanceObserver((list) => this.#note(list.getEntries()));
    this.observer.observe({ type: "resource", buffered: true });
  }

  /** Fetches a file, and returns its stream of bytes, counting them as they come. */
  async stream(url, signal) {
    const response = await fetchFile(url, { signal });
    let count = 0;
    const counting = new TransformStream({
      transform: (chunk, controller) => {
        count += chunk.length;
        this.#set(url.href, count);
        controller.enqueue(chunk);
      },
    });
    return response.body.pipeThrough(counting);
  }

  /** Fetches a file's bytes, counting them as they come. */
  async bytes(url) {
    return bytesOf(await this.stream(url));
  }

  /** Ends the counting. */
  close() {
    this.observer.disconnect();
  }

  #note(entries) {
    for (const { name } of entries) {
      if (name in this.sizes) this.#set(name, this.sizes[name]);
    }
  }

  #set(href, count) {
    if (count <= (this.loaded[href] ?? 0)) return;
    this.loaded[href] = count;
    const loaded = Object.values(this.loaded).reduce((sum, size) => sum + size, 0);
    this.onBytes(loaded, this.total);
  }
}

// Requests to servers. Chunks go from the network straight to their place in Python's memory: passing
// each to Python would take longer than to receive it. Requests are aborted, responses cached and
// cloned by objects of JavaScript, so this is JavaScript, too.
export default function fetching(module) {
  // A call of Python takes longer than to receive a chunk.
  const MILLISECONDS_PER_REPORT = 20;

  // Pyodide takes a rejected promise's reason for an error only if it has a stack. The reasons of
  // WebKit's network have none, and Python would wait for ever.
  const withStack = ({ name, message }) => Object.assign(new Error(message), { name });
  const attempt = (action) => action().catch((error) => Promise.reject(withStack(error)));

  const joined = (chunks) => {
    const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
    let offset = 0;
    for (const chunk of chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  };

  // Downloads that end together. Texts come from Python as arrays that become them, see
  // `javascript_text`.
  const begin = (requestInit, cacheName, seconds) => {
    const options = JSON.parse(requestInit);
    const all = new AbortController();
    const cache = cacheName && caches.open(String(cacheName));
    const cached = new Set(); // addresses whose responses come from the cache, or go there
    const writes = [];

    const responseOf = async (url, signal) => {
      if (!cache) {
        return fetch(url, { ...options, signal });
      }
      cached.add(url);
      const stored = await (await cache).match(url);
      if (stored) {
        return stored;
      }
      const response = await fetch(url, { ...options, signal });
      if (response.ok) {
        // A full cache only makes the next download slower.
        writes.push((await cache).put(url, response.clone()).catch(() => {}));
      }
      return response;
    };

    // The first bytes go to `capacity` bytes from `address` on, those beyond are returned.
    const receive = (where, address, capacity, limit, onBytes) =>
      attempt(async () => {
        const url = String(where);
        const own = new AbortController();
        const abort = () => own.abort(all.signal.reason);
        let timer;
        const wait = () => {
          clearTimeout(timer);
          if (seconds !== undefined) {
            const error = { name: "TimeoutError", message: `no bytes for ${seconds} s` };
            timer = setTimeout(() => own.abort(withStack(error)), seconds * 1000);
          }
        };
        let isComplete = false;
        all.signal.throwIfAborted();
        all.signal.addEventListener("abort", abort);
        try {
          wait();
          const response = await responseOf(url, own.signal);
          if (!response.ok) {
            return { status: response.status };
          }
          const reader = response.body.getReader();
          const rest = [];
          let size = 0;
          let reported = 0;
          let lastReport = performance.now();
          const report = () => {
            onBytes?.(size - reported);
            reported = size;
            lastReport = performance.now();
          };
          for (;;) {
            wait();
            const { done, value } = await reader.read();
            // Whoever aborts may free the memory.
            own.signal.throwIfAborted();
            if (done) {
              isComplete = true;
              report();
              break;
            }
            const fitting = Math.max(0, Math.min(value.length, capacity - size));
            if (fitting) {
              module.HEAPU8.set(value.subarray(0, fitting), address + size);
            }
            size += value.length;
            if (size > limit) {
              break;
            }
            if (fitting < value.length) {
              rest.push(value.subarray(fitting));
            }
            if (performance.now() - lastReport > MILLISECONDS_PER_REPORT) {
              report();
            }
          }
          return { status: response.status, size, rest: rest.length ? joined(rest) : undefined };
        } catch (error) {
          throw own.signal.aborted ? own.signal.reason : error; // WebKit forgets the reason
        } finally {
          clearTimeout(timer);
          all.signal.removeEventListener("abort", abort);
          // A complete body may still be on its way to the cache.
          if (!isComplete) {
            own.abort();
          }
        }
      });

    const abort = () => all.abort();
    const settled = () => Promise.all(writes);
    const forget = async () => {
      await settled();
      for (const url of cached) {
        await (await cache).delete(url);
      }
    };
    return { receive, abort, settled, forget };
  };

  const send = (url, requestInit, body) =>
    attempt(async () => {
      const response = await fetch(String(url), { ...JSON.parse(requestInit), body });
      return { status: response.status, body: await response.arrayBuffer() };
    });

  // Bytes that are read chunk by chunk, so that a large file never is in memory as a whole.
  const chunksOf = (stream) => {
    const reader = stream.getReader();
    return {
      read: () => attempt(async () => (await reader.read()).value),
      cancel: () => reader.cancel().catch(() => {}),
    };
  };

  const open = (url, requestInit) =>
    attempt(async () => {
      const response = await fetch(String(url), JSON.parse(requestInit));
      return response.ok ? chunksOf(response.body) : { status: response.status };
    });

  const openBlob = (blob) => chunksOf(blob.stream());

  return { begin, open, openBlob, send };
}

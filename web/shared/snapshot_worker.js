// Fetches what a start from a snapshot needs, beside the page's thread: the worker of `snapshot.js`.

import { fetchSnapshotFiles } from "./snapshot_files.js";

addEventListener("message", ({ data: { heap, archive } }) => {
  const onBytes = (href, count) => postMessage({ href, count });
  const promises = fetchSnapshotFiles(heap, archive, onBytes);
  for (const [name, promise] of Object.entries(promises)) answer(name, promise);
});

async function answer(name, promise) {
  try {
    const value = await promise;
    postMessage({ name, value }, [value.buffer]);
  } catch ({ message }) {
    postMessage({ name, error: message });
  }
}

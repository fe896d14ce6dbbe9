// Has the service worker keep what a page needs, so that the next visit needs no network.

const site = new URL("../", import.meta.url);

/**
 * Keeps what the page has loaded, the scripts of its folder, and what Python starts from.
 * @param {string[]} others addresses of what it may load later
 */
export async function keepForNextVisit(others = []) {
  if (!("serviceWorker" in navigator)) return; // in pages that are not served by HTTPS
  try {
    await navigator.serviceWorker.register(new URL("service_worker.js", site));
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    active.postMessage([document.baseURI, ...loaded, ...others]);
  } catch (error) {
    console.info(`The next visit will need the network: ${error.message}`);
  }
}

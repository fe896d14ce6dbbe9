// Keeps what a page has loaded, so that the next visit needs no network.

/**
 * Lets the site's service worker keep what the page has loaded.
 * @param {string[]} others what its workers have loaded, which the page's resource timing does not list
 */
export async function keepForNextVisit(others) {
  if (!("serviceWorker" in navigator)) return; // in pages that are not served by HTTPS
  try {
    await navigator.serviceWorker.register(new URL("../service_worker.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    active.postMessage([document.baseURI, ...loaded, ...others]);
  } catch (error) {
    console.info(`The next visit will need the network: ${error.message}`);
  }
}

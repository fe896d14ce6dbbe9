// Keeps the files of pages that were visited, so that they start without the network.
//
// The build puts its name, its files and those that Python starts from in place of the three lines
// below, and writes the result to the site's root. Kept files are only served while the site is of
// that build, or cannot be reached.
const BUILD = "";
const FILES = new Set([]);
const START_FILES = [];

const CACHE_PREFIX = "webtensor-";
const CACHE = CACHE_PREFIX + BUILD;
const SCOPE = new URL(registration.scope);

// Folders whose names change with their content.
const IMMUTABLE = /^(pyodide|start|wheels)\//;

// How long a site may take to say which build it is before it counts as out of reach.
const ANSWER_MS = 3000;

// Pages need these for threads; not every host can send them.
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
const ISOLATED_DESTINATIONS = ["document", "worker", "sharedworker"];

let site; // a promise of what is known of the site: "current", "replaced" or "away"

addEventListener("install", (event) => event.waitUntil(skipWaiting()));

addEventListener("activate", (event) =>
  event.waitUntil(Promise.all([clients.claim(), dropOtherBuilds()])),
);

// Pages send their address, and those of what they have loaded.
addEventListener("message", (event) => event.waitUntil(keep(event.data)));

addEventListener("fetch", (event) => {
  const path = pathOf(event.request.url);
  if (event.request.method !== "GET" || event.request.headers.has("Range") || path === null) return;
  if (event.request.mode === "navigate") site = undefined; // ask anew
  event.respondWith(respond(event, path));
});

async function respond(event, path) {
  const { request } = event;
  const isImmutable = IMMUTABLE.test(path);
  const state = isImmutable ? "current" : await (site ??= stateOfSite());
  const cache = await caches.open(CACHE);
  const cached = state === "replaced" ? undefined : await cache.match(keyOf(path));
  if (cached !== undefined) return isolated(request, cached);
  const response = await fetch(request);
  if (response.status === 200 && state === "current") {
    event.waitUntil(cache.put(keyOf(path), response.clone()));
  }
  return isolated(request, response);
}

async function stateOfSite() {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(new URL("build.json", SCOPE), { cache: "no-cache", signal });
    const { build } = await response.json();
    if (build === BUILD) return "current";
  } catch {
    return "away";
  }
  registration.update();
  return "replaced";
}

async function keep([page, ...others]) {
  if ((await (site ??= stateOfSite())) !== "current") return;
  const cache = await caches.open(CACHE);
  for (const url of [page, ...others, ...[...scriptsBeside(page), ...START_FILES].map(keyOf)]) {
    const path = pathOf(url);
    if (path === null || (await cache.match(keyOf(path))) !== undefined) continue;
    try {
      const response = await fetch(url);
      if (response.status === 200) await cache.put(keyOf(path), response);
    } catch {
      // Others may still come.
    }
  }
}

// The scripts in a page's folder. Its resource timing does not list those that its workers load.
function scriptsBeside(page) {
  const path = pathOf(page);
  if (path === null) return [];
  return [...FILES].filter((file) => folderOf(file) === folderOf(path) && /\.(js|py)$/.test(file));
}

async function dropOtherBuilds() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(CACHE_PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

// The path of one of the build's files below the scope; null for any other address.
function pathOf(address) {
  const { origin, pathname } = new URL(address);
  if (origin !== SCOPE.origin || !pathname.startsWith(SCOPE.pathname)) return null;
  const path = decodeURI(pathname.slice(SCOPE.pathname.length)).replace(/(^|\/)$/, "$1index.html");
  return FILES.has(path) ? path : null;
}

const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);

function keyOf(path) {
  return new URL(path, SCOPE).href;
}

function isolated(request, response) {
  const isFitting = ISOLATED_DESTINATIONS.includes(request.destination) && response.status === 200;
  if (!isFitting || response.headers.has("Cross-Origin-Embedder-Policy")) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  return new Response(response.body, { headers });
}

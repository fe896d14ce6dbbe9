// What the page remembers for the next visit, as far as the browser lets it store anything.

const PREFIX = "webtensor.repl.";

/** Returns what was stored under a name, or `otherwise`. */
export function recall(name, otherwise) {
  return read(() => localStorage, name) ?? otherwise;
}

/** Stores a value, and tells whether the browser did. */
export function remember(name, value) {
  return write(() => localStorage, name, value);
}

/** Returns what this tab stored last under a name, in a new tab what any of them did, or `otherwise`. */
export function recallInTab(name, otherwise) {
  return read(() => sessionStorage, name) ?? recall(name, otherwise);
}

/** Stores a value for this tab, and for new ones. */
export function rememberInTab(name, value) {
  write(() => sessionStorage, name, value);
  remember(name, value);
}

function read(storage, name) {
  try {
    return JSON.parse(storage().getItem(PREFIX + name));
  } catch {
    return null; // storage is blocked, or holds what no version of this page wrote
  }
}

function write(storage, name, value) {
  try {
    storage().setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false; // storage is blocked or full: the page goes on without
  }
}

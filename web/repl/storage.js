// What the page remembers for the next visit, as far as the browser lets it store anything.

const PREFIX = "webtensor.repl.";

/** Returns what was stored under a name, or `otherwise`. */
export function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? otherwise;
  } catch {
    return otherwise; // storage is blocked, or holds what no version of this page wrote
  }
}

/** Stores a value, and tells whether the browser did. */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false; // storage is blocked or full: the page goes on without
  }
}

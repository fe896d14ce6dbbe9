// How many threads compute in this page, on each side: the peers' number is fixed once they start.

export const threads = Number(new URLSearchParams(location.search).get("threads") ?? 1);

// TensorFlow.js starts no more threads than half the processors, of which it is told as many as it
// takes; unless there are too few for so many threads, on any side.
if (threads > 1 && threads <= navigator.hardwareConcurrency) {
  const value = Math.max(2 * threads, navigator.hardwareConcurrency);
  Object.defineProperty(navigator, "hardwareConcurrency", { value });
}

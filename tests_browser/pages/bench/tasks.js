/** Watches how long the page's thread is busy at a time; `stop` gives the longest, in milliseconds. */
export function watchTasks() {
  const { port1: bell, port2: rope } = new MessageChannel();
  let last = performance.now();
  let longest = 0;
  const note = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  bell.onmessage = () => {
    note();
    rope.postMessage(null);
  };
  rope.postMessage(null);
  return {
    stop() {
      note();
      bell.close();
      return longest;
    },
  };
}

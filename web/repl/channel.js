// The memory that page and worker share where the page is cross-origin isolated: one byte that
// interrupts Python, a line of input with its state and length before it, and how many messages the page
// has received.

export const LINE_STATE = 0;
export const LINE_LENGTH = 1;
export const [WAITING, LINE, END_OF_INPUT, INTERRUPTED] = [0, 1, 2, 3];

const SIGINT = 2; // the number of the signal that Python takes for an interrupt

const HEADER_BYTES = 8;
const LONGEST_LINE = 1 << 20; // bytes

/** Returns the memory, or null where browsers share none. */
export function createChannel() {
  if (!globalThis.crossOriginIsolated || typeof SharedArrayBuffer === "undefined") {
    return null;
  }
  return {
    interrupt: new Uint8Array(new SharedArrayBuffer(1)),
    line: new SharedArrayBuffer(HEADER_BYTES + LONGEST_LINE),
    received: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
}

/** The bytes of the line of input. */
export function lineBytes(line) {
  return new Uint8Array(line, HEADER_BYTES);
}

/** Writes a line, or the end of the input for null, and wakes the worker. */
export function sendLine({ line }, text) {
  const header = new Int32Array(line, 0, 2);
  const bytes = new TextEncoder().encode(text ?? "").subarray(0, LONGEST_LINE);
  lineBytes(line).set(bytes);
  header[LINE_LENGTH] = bytes.length;
  wake(header, text === null ? END_OF_INPUT : LINE);
}

/** Has Python raise KeyboardInterrupt, also where it waits for a line. */
export function interruptPython({ interrupt, line }) {
  Atomics.store(interrupt, 0, SIGINT);
  wake(new Int32Array(line, 0, 2), INTERRUPTED);
}

function wake(header, state) {
  Atomics.store(header, LINE_STATE, state);
  Atomics.notify(header, LINE_STATE);
}

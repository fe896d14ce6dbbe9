// The page's side of the worker in which Python runs: requests, interrupts, restarts.
import { createChannel, interruptPython, sendLine } from "./channel.js";

const MILLISECONDS_BETWEEN_INTERRUPTS = 200;

/** What a request fails with when the worker that should answer it was ended. */
export class RestartError extends Error {}

export class Interpreter {
  /**
   * @param {{onProgress: Function, onMessage: Function, onCrash: Function, onError: Function}} listener
   *   `onProgress(fraction, text)` while Python starts, `onMessage(message)` for what `main.py`
   *   sends, `onCrash(text)` when Python can compute no more, `onError(text)` for other errors that
   *   belong to no request.
   */
  constructor(listener) {
    this.listener = listener;
    this.start();
  }

  /** Whether a run can be interrupted, so that the session's variables are kept. */
  get canInterrupt() {
    return this.channel !== null;
  }

  start() {
    this.pending = new Map();
    this.lastId = 0;
    this.channel = createChannel();
    try {
      this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module", name: "Python" });
    } catch {
      this.worker = null;
      setTimeout(() => this.fail(new Event("error"))); // when the listener is ready to hear of it
      return;
    }
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event);
    this.worker.postMessage({ channel: this.channel });
  }

  /** Asks for something in `main.py`'s or `worker.js`'s tables; resolves with the answer. */
  request(request, ...values) {
    const id = ++this.lastId;
    this.worker?.postMessage({ id, request, values });
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  /**
   * Has Python end the run that goes on. A run that awaits something is cancelled by the request;
   * only while Python computes, so that the request stays unanswered, it is interrupted: that
   * could hit the event loop otherwise. An exception in a destructor is lost, hence the repetition.
   */
  interrupt() {
    const { channel } = this;
    const timer = setInterval(() => interruptPython(channel), MILLISECONDS_BETWEEN_INTERRUPTS);
    this.request("interrupt")
      .catch(() => {})
      .finally(() => clearInterval(timer));
  }

  /** Ends Python, with its variables and files, and starts another. */
  restart() {
    this.worker?.terminate();
    for (const { reject } of this.pending.values()) {
      reject(new RestartError("Python was restarted"));
    }
    this.start();
  }

  /** Answers a program that reads a line; null is the end of the input. */
  sendLine(text) {
    if (this.channel === null) {
      this.worker.postMessage({ line: text });
    } else {
      sendLine(this.channel, text);
    }
  }

  receive({ id, value, error, messages, crash, progress }) {
    if (crash !== undefined) {
      this.listener.onCrash(crash);
    } else if (progress !== undefined) {
      this.listener.onProgress(progress.fraction, progress.text);
    } else if (messages !== undefined) {
      messages.forEach((message) => this.listener.onMessage(message));
      if (this.channel !== null) {
        Atomics.add(this.channel.received, 0, 1);
      }
    } else {
      const { resolve, reject } = this.pending.get(id);
      this.pending.delete(id);
      error === undefined ? resolve(value) : reject(new Error(error));
    }
  }

  fail(event) {
    event.preventDefault();
    this.listener.onError(
      event.message ||
        "Python runs in a Web Worker, which this browser or this site's policy did not start, or of " +
          "which a script could not be loaded. Reload the page to try again.",
    );
  }
}

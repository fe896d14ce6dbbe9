// Python for the REPL, in a worker. It answers the page's requests, most of them by `main.py`.
import { startPython } from "../shared/loader.js";
import {
  END_OF_INPUT,
  INTERRUPTED,
  LINE_LENGTH,
  LINE_STATE,
  WAITING,
  lineBytes,
} from "./channel.js";
import { post, postWaiting, setReceived } from "./outbox.js";

const MODULES = [
  "completion",
  "files",
  "main",
  "markup",
  "matplotlib_backend",
  "packages",
  "pictures",
  "plots",
  "rendering",
  "session",
  "streams",
];
const LIBRARY_PATH = "/usr/lib/webtensor_pages";
const PACKAGE_PATH = `${LIBRARY_PATH}/webtensor_repl`;

let receiveLine = null; // takes a line of input where the worker cannot block
let wasInterrupted = false; // while it waited for a line, in this run
let resolveChannel;
const channelArrives = new Promise((resolve) => (resolveChannel = resolve));
const started = start();
started.catch(() => {}); // every request reports it

addEventListener("message", async ({ data }) => {
  if ("channel" in data) {
    resolveChannel(data.channel);
  } else if ("line" in data) {
    receiveLine?.(JSON.stringify({ text: data.line }));
  } else {
    const { id, request, values } = data;
    const answered = await answer(request, values).catch((error) => {
      reportCrash(error);
      return { error: lastLine(error) };
    });
    postWaiting();
    postMessage({ id, ...answered });
  }
});

// What is thrown when Python's runtime crashes may reach no request, which is never answered then.
addEventListener("error", ({ error }) => reportCrash(error));
addEventListener("unhandledrejection", ({ reason }) => reportCrash(reason));

async function start() {
  const channel = await channelArrives;
  if (channel !== null) {
    // Python may block a worker, and can then be interrupted; where JSPI suspends it, it cannot.
    delete WebAssembly.Suspending;
  }
  setReceived(channel?.received ?? null);
  const onProgress = (fraction, text) => postMessage({ progress: { fraction, text } });
  const [pyodide, ...sources] = await Promise.all([
    startPython({ onProgress }),
    ...MODULES.map((name) => fetchSource(`${name}.py`)),
  ]);
  const folder = pyodide.FS.cwd(); // a program may leave it
  pyodide.FS.mkdirTree(PACKAGE_PATH);
  MODULES.forEach((name, index) => pyodide.FS.writeFile(`${PACKAGE_PATH}/${name}.py`, sources[index]));
  pyodide.runPython(`import sys; sys.path.append("${LIBRARY_PATH}")`);
  const readLine = channel === null ? awaitLine : () => waitForLine(channel);
  const main = pyodide.pyimport("webtensor_repl.main");
  if (channel !== null) {
    main.make_sleep_interruptible((seconds) => waitForPage(channel, 1000 * seconds) === INTERRUPTED);
  }
  const interpreter = main.start.callKwargs((json) => post(JSON.parse(json)), readLine, { can_block: channel !== null });
  const { PythonError } = pyodide.ffi; // which cannot be asked for after a crash
  return { pyodide, PythonError, interpreter, channel, folder };
}

/** Returns the value or the error that a request is answered with. */
async function answer(request, values) {
  const { pyodide, interpreter, channel, folder } = await started;
  // Python is free to answer, and it is not the answer that is to be interrupted.
  if (channel !== null) {
    channel.interrupt.fill(0);
    pyodide.setInterruptBuffer(request === "interrupt" ? undefined : channel.interrupt);
    new Int32Array(channel.line, 0, 2).fill(WAITING);
    wasInterrupted = false;
  }
  switch (request) {
    case "readFile":
      return { value: withFile(() => pyodide.FS.readFile(`${folder}/${values[0]}`), values[0]) };
    case "writeFile": {
      const content = new Uint8Array(values[1]);
      return { value: withFile(() => pyodide.FS.writeFile(`${folder}/${values[0]}`, content), values[0]) };
    }
    case "interrupt":
      return { value: interpreter.interrupt() };
  }
  return JSON.parse(await interpreter.answer(request, JSON.stringify(values)));
}

/** Does something with a file, which the errors of Python's file system do not name. */
function withFile(work, name) {
  try {
    return work();
  } catch {
    throw new Error(`${name} is not there any more, or it is a folder.`);
  }
}

/** Tells the page of an error if Python, which had started, can compute no more since. */
async function reportCrash(error) {
  const { pyodide, PythonError } = await started.catch(() => ({}));
  try {
    pyodide?.runPython("");
  } catch (reason) {
    if (!(reason instanceof PythonError)) {
      postWaiting();
      postMessage({ crash: lastLine(error) });
    }
  }
}

/**
 * Blocks until the page has written a line into the shared memory, and returns it as JSON.
 *
 * A run that is interrupted and reads on, as a debugger does, finds that its input has ended.
 */
function waitForLine(channel) {
  if (wasInterrupted) {
    return JSON.stringify({ text: null });
  }
  post({ input: true });
  const state = waitForPage(channel, Infinity);
  if (state === INTERRUPTED) {
    wasInterrupted = true;
    return JSON.stringify({ isInterrupted: true });
  }
  const header = new Int32Array(channel.line, 0, 2);
  const bytes = lineBytes(channel.line).slice(0, header[LINE_LENGTH]);
  return JSON.stringify({ text: state === END_OF_INPUT ? null : new TextDecoder().decode(bytes) });
}

/** Blocks until the page writes a line or interrupts, or for a time, and returns which it was. */
function waitForPage({ interrupt, line }, milliseconds) {
  postWaiting();
  const header = new Int32Array(line, 0, 2);
  Atomics.wait(header, LINE_STATE, WAITING, milliseconds);
  const state = Atomics.exchange(header, LINE_STATE, WAITING);
  if (state === INTERRUPTED) {
    interrupt.fill(0);
  }
  return state;
}

function awaitLine() {
  post({ input: true });
  postWaiting();
  return new Promise((resolve) => (receiveLine = resolve));
}

async function fetchSource(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) {
    throw new Error(`${name} could not be loaded: ${response.status} ${response.statusText}`);
  }
  return response.text();
}

/** What an exception says; of a traceback of Python's, its last line. */
function lastLine(error) {
  return (error?.message ?? String(error)).trim().split("\n").pop();
}

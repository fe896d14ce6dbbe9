// Python for the REPL, in a worker. It answers the page's requests, most of them by `main.py`.
import { startPython } from "../shared/loader.js";
import { END_OF_INPUT, INTERRUPTED, LINE_STATE, LINE_LENGTH, WAITING, lineBytes } from "./channel.js";

const MODULES = [
  "completion",
  "files",
  "main",
  "markup",
  "packages",
  "pictures",
  "plots",
  "rendering",
  "session",
  "streams",
];
const PACKAGE_PATH = "/usr/lib/webtensor_pages/webtensor_repl";

let receiveLine = null; // takes a line of input where the worker cannot block
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
    try {
      postMessage({ id, value: await answer(request, values) });
    } catch (error) {
      postMessage({ id, error: lastLine(error) });
    }
  }
});

async function start() {
  const onProgress = (fraction, text) => postMessage({ progress: { fraction, text } });
  const [pyodide, channel, ...sources] = await Promise.all([
    startPython({ onProgress }),
    channelArrives,
    ...MODULES.map((name) => fetchSource(`${name}.py`)),
  ]);
  pyodide.FS.mkdirTree(PACKAGE_PATH);
  MODULES.forEach((name, index) => pyodide.FS.writeFile(`${PACKAGE_PATH}/${name}.py`, sources[index]));
  pyodide.runPython(`import sys; sys.path.append("${PACKAGE_PATH}/..")`);
  if (channel !== null) {
    pyodide.setInterruptBuffer(channel.interrupt);
  }
  const post = (json) => postMessage({ message: JSON.parse(json) });
  const readLine = channel === null ? awaitLine : () => waitForLine(channel);
  const main = pyodide.pyimport("webtensor_repl.main");
  const interpreter = main.start.callKwargs(post, readLine, { can_block: channel !== null });
  return { pyodide, interpreter, channel };
}

async function answer(request, values) {
  const { pyodide, interpreter, channel } = await started;
  switch (request) {
    case "readFile":
      return pyodide.FS.readFile(values[0]);
    case "writeFile":
      return pyodide.FS.writeFile(values[0], new Uint8Array(values[1]));
    case "run":
      channel?.interrupt.fill(0); // an interrupt that came after the end of the previous run
  }
  return JSON.parse(await interpreter.answer(request, JSON.stringify(values)));
}

/** Blocks until the page has written a line into the shared memory. */
function waitForLine({ interrupt, line }) {
  const header = new Int32Array(line, 0, 2);
  Atomics.store(header, LINE_STATE, WAITING);
  postMessage({ message: { input: true } });
  Atomics.wait(header, LINE_STATE, WAITING);
  const state = Atomics.load(header, LINE_STATE);
  if (state === INTERRUPTED) {
    interrupt.fill(0);
    return JSON.stringify({ isInterrupted: true });
  }
  const bytes = lineBytes(line).slice(0, header[LINE_LENGTH]);
  return JSON.stringify({ text: state === END_OF_INPUT ? null : new TextDecoder().decode(bytes) });
}

function awaitLine() {
  postMessage({ message: { input: true } });
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

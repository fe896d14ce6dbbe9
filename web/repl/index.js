// The REPL: an editor for a program, a console, and the worker in which both run.
import { createEditor } from "../shared/editor.js";
import { keepForNextVisit } from "../shared/next_visit.js";
import { Console, dedent } from "./console.js";
import { Files } from "./files.js";
import { Interpreter, RestartError } from "./interpreter.js";
import { fromFragment, toFragment } from "./share.js";
import { recallInTab, remember, rememberInTab } from "./storage.js";

const PROGRAM = "<program>"; // as in session.py
const FIRST_EXAMPLE = "tensors";
const MILLISECONDS_TO_STOP = 1000; // before a visitor may restart Python instead
const RESTARTED = "Python was restarted: variables and files are gone.";
const NO_INTERRUPT =
  `${RESTARTED} Stopping a run alone needs shared memory, which this browser has not, or this ` +
  "host does not allow: it would send COOP and COEP headers.";

const element = (id) => document.getElementById(id);
const main = document.querySelector("main");

let entries = 0; // of the console
let isRunning = false; // a program or entry runs, or waits for Python to start
let isStopping = false;
let restartOffer = null; // the timer of it, for a run that is being stopped
let isOpening = false; // the editor's text changes, but not by the visitor
let ranProgram = null; // the source of the program that ran last

const interpreter = new Interpreter({ onProgress, onMessage, onCrash, onError });

// Completions come from Python's own thread, so that there are none while a program computes.
const askPython = (request) => (before) =>
  main.dataset.phase === "ready" ? interpreter.request(request, before).catch(() => null) : null;
const complete = askPython("complete");
const signature = askPython("signature");

const repl = new Console({
  run: runEntry,
  isBusy: () => isRunning,
  isComplete: (source) => interpreter.request("isComplete", source).catch(() => false),
  sendLine: (text) => {
    enter("running");
    interpreter.sendLine(text);
  },
  goToLine: (line) => editor.goToLine(line),
  interrupt: () => {
    const canStop = interpreter.canInterrupt && !element("stop").disabled && !isStopping;
    if (canStop) {
      stop();
    }
    return canStop;
  },
  complete,
  signature,
});

const editor = createEditor({
  parent: element("editor"),
  label: "Program. Escape, then Tab leaves the editor",
  text: recallInTab("program", ""),
  keys: [
    ...["Ctrl-Enter", "Mod-Enter"].map((key) => ({ key, run: () => runProgram() ?? true })),
    { key: "Ctrl-.", run: () => stop() ?? true },
  ],
  onChange: () => {
    element("shared").hidden = true;
    if (!isOpening) {
      rememberInTab("program", editor.text);
      setFragment(""); // the address would open another program than this
    }
  },
  complete,
  signature,
});

const files = new Files(interpreter, {
  onOpen: (name, text) => {
    setFragment("");
    open(text, `${name} is in the editor.`);
  },
  program: () => editor.text,
});

// -- what Python tells ----------------------------------------------------------------------------

function onProgress(fraction, text) {
  element("loading").hidden = main.dataset.phase !== "loading"; // some downloads outlast a failure
  element("loading").querySelector("progress").value = fraction;
  element("loading-text").textContent = `${text}. You can write already.`;
}

function onMessage({ stream, text, content, input, isOmission }) {
  if (isOmission) {
    repl.noteOmission();
  } else if (input) {
    enter("input");
    repl.askForLine();
  } else if (content) {
    repl.show(content);
  } else {
    repl.write(stream, text);
  }
}

function onCrash(reason) {
  restart(`Python crashed: ${reason}. ${RESTARTED}`);
}

function onError(text) {
  if (main.dataset.phase === "loading") {
    enter("failed");
  }
  repl.failInPage(text);
}

/** Sets what is going on: loading, ready, running, input (a program reads a line) or failed. */
function enter(phase, status = PHASES[phase]) {
  main.dataset.phase = phase;
  const canStop = phase === "running" || phase === "input";
  element("run").disabled = canStop || phase === "failed";
  element("stop").disabled = !canStop;
  element("stop").textContent = isStopping ? "Restart" : "Stop";
  element("backend").disabled = element("add-packages").disabled = phase !== "ready";
  element("status").textContent = status;
  if (phase !== "loading") {
    element("loading").hidden = true;
  }
}

const PHASES = {
  loading: "Starting Python",
  ready: "Ready",
  running: "Running",
  input: "The program waits for a line in the console",
  failed: "Python did not start",
};

/** Waits until Python has started, and shows what there is. */
async function start() {
  enter("loading");
  try {
    showDescription(await interpreter.request("describe"));
    enter(isRunning ? "running" : "ready");
    files.refresh();
    keepForNextVisit(exampleNames().map(exampleUrl));
  } catch (error) {
    if (!(error instanceof RestartError)) {
      enter("failed");
      repl.failInPage(error.message);
    }
  }
}

function showDescription({ webtensor, python, backends, threads }) {
  const options = backends.map(({ name, label, isActive, reason }) => {
    const option = new Option(reason === null ? label : `${label} (not here)`, name);
    option.disabled = reason !== null;
    option.title = reason ?? "";
    option.selected = isActive;
    return option;
  });
  element("backend").replaceChildren(...options);
  const computing = threads > 1 ? `, ${threads} threads` : "";
  element("versions").textContent = `webtensor ${webtensor}, Python ${python}${computing}`;
}

// -- running --------------------------------------------------------------------------------------

function runProgram() {
  const { selection } = editor;
  const isWhole = selection.trim() === "";
  const source = dedent(isWhole ? editor.text : selection);
  if (element("run").disabled || isRunning || source.trim() === "") {
    return;
  }
  editor.clearError();
  notify("");
  ranProgram = isWhole ? editor.text : null;
  if (isWhole) {
    const lines = source.trimEnd().split("\n").length;
    repl.beginProgram(lines === 1 ? "Program, 1 line" : `Program, ${lines} lines`);
    run(source, PROGRAM);
  } else {
    runEntry(source);
  }
}

function runEntry(source) {
  repl.begin(source);
  entries += 1;
  return run(source, `<console ${entries}>`);
}

async function run(source, filename) {
  isRunning = true;
  enter(
    main.dataset.phase === "loading" ? "loading" : "running",
    main.dataset.phase === "loading" ? "Runs when Python has started" : "Running",
  );
  try {
    const { failure, seconds } = await interpreter.request("run", source, filename);
    showDescription(await interpreter.request("describe"));
    finish(failure, seconds);
    files.refresh();
  } catch (error) {
    if (!(error instanceof RestartError)) {
      endRun();
      repl.failInPage(error.message);
      enter("ready");
    }
  }
}

/** Notes that nothing runs, or is being stopped, any more. */
function endRun() {
  isRunning = isStopping = false;
  clearTimeout(restartOffer);
}

function finish(failure, seconds) {
  endRun();
  repl.endInput();
  repl.flush(); // a visitor reads "Finished" as: this is all
  if (failure === null) {
    enter("ready", `Finished in ${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s`);
    return;
  }
  const isInProgram = failure.line !== null && ranProgram === editor.text;
  if (isInProgram) {
    editor.markError(failure.line, failure.summary);
  }
  repl.fail({ ...failure, line: isInProgram ? failure.line : null });
  enter("ready", failure.summary.startsWith("KeyboardInterrupt") ? "Stopped" : failure.summary);
}

/** Does something for which Python must be free, and returns the status that it ends with. */
async function whileBusy(status, work) {
  isRunning = true;
  enter("running", status);
  let outcome;
  try {
    outcome = await work();
  } catch (error) {
    if (error instanceof RestartError) {
      return error.message;
    }
    outcome = error.message;
  }
  endRun();
  enter("ready", outcome);
  return outcome;
}

function stop() {
  if (element("stop").disabled) {
    return;
  }
  if (interpreter.canInterrupt && !isStopping) {
    interpreter.interrupt();
    enter("running", "Stopping");
    element("stop").disabled = true; // a second click of a double one is not to restart Python
    isStopping = true;
    restartOffer = setTimeout(offerRestart, MILLISECONDS_TO_STOP);
  } else {
    restart(interpreter.canInterrupt ? RESTARTED : NO_INTERRUPT);
  }
}

function offerRestart() {
  enter("running", "Stopping. If Python does not listen, restart it");
}

function restart(note) {
  endRun();
  repl.endInput();
  repl.note(note);
  interpreter.restart();
  files.clear();
  start();
}

// -- opening and sharing --------------------------------------------------------------------------

function open(source, notice = "") {
  isOpening = true;
  editor.setText(source);
  isOpening = false;
  notify(notice);
}

function setFragment(fragment) {
  window.history.replaceState(null, "", location.pathname + location.search + fragment);
}

function notify(text) {
  element("notice").hidden = text === "";
  element("notice").textContent = text;
}

const exampleNames = () =>
  [...element("examples").options].map(({ value }) => value).filter((name) => name !== "");
const exampleUrl = (name) => new URL(`examples/${name}.py`, document.baseURI).href;

async function openExample(name) {
  const response = exampleNames().includes(name) ? await fetch(exampleUrl(name)) : null;
  if (!response?.ok) {
    throw new Error(`There is no example “${name}” here.`);
  }
  open(await response.text());
}

/** Opens what the address names; nothing runs before the visitor says so. */
async function openFragment() {
  notify("");
  try {
    const { code, example } = await fromFragment(location.hash);
    if (code !== undefined) {
      open(code, "This program came with the link. Read it before you run it.");
    } else if (example !== undefined) {
      await openExample(example);
    } else if (editor.text === "") {
      await openExample(FIRST_EXAMPLE);
    }
  } catch (error) {
    notify(error.message);
  }
}

async function share() {
  let fragment;
  try {
    fragment = await toFragment(editor.text);
  } catch (error) {
    notify(error.message);
    return;
  }
  setFragment(fragment);
  const link = element("link");
  link.value = location.href;
  element("shared").hidden = false;
  link.select();
  let status = "Copy it: who opens it sees the program, and may run it.";
  try {
    await navigator.clipboard.writeText(location.href);
    status = "Copied. Who opens it sees the program, and may run it.";
  } catch {
    link.focus(); // the browser forbids copying: the visitor copies what is selected
  }
  element("link-status").textContent = status;
}

// -- controls -------------------------------------------------------------------------------------

element("run").onclick = runProgram;
element("stop").onclick = stop;
element("restart").onclick = () => restart(RESTARTED);
element("clear").onclick = () => repl.clear();
element("share").onclick = share;
element("examples").onchange = async ({ target }) => {
  const name = target.value;
  target.value = "";
  if (name !== "") {
    setFragment(`#example=${name}`);
    await openFragment();
    editor.focus();
  }
};
element("backend").onchange = async ({ target }) => {
  const backend = target.value;
  await whileBusy(`Starting ${backend}`, async () => {
    try {
      await interpreter.request("setBackend", backend);
    } finally {
      showDescription(await interpreter.request("describe"));
    }
    return `Computing on ${backend}`;
  });
};
element("packages").onsubmit = async (event) => {
  event.preventDefault();
  const names = element("package-names").value;
  const status = element("packages-status");
  status.textContent = `Adding ${names}`;
  status.textContent = await whileBusy(`Adding ${names}`, async () => {
    showDescription(await interpreter.request("install", names));
    return `Added: ${names}`;
  });
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key === "." && !event.defaultPrevented) {
    stop();
  }
});
addEventListener("hashchange", openFragment);

element("no-storage").hidden = remember("visited", true);
start();
openFragment();

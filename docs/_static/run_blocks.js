// "Run" buttons on the listings of the documentation.
//
// All listings of a page are parts of one program: a button runs the listings above that have not run yet,
// then its own, and shows what they print. Python is loaded when the first button is pressed.

const LISTINGS = ".highlight-python, .highlight-pycon, .highlight-default, .highlight-pycon3";
const ELSEWHERE = ".cpython, .file, .append, .insert";

const listings = [...document.querySelectorAll(LISTINGS)]
  .filter((element) => element.closest(ELSEWHERE) === null)
  .filter((element) => element.closest("div.doctest") !== null || isPython(element))
  .map(addButton);

let starting; // a promise of Python
let running = Promise.resolve();

function isPython(element) {
  return element.classList.contains("highlight-python") || element.textContent.startsWith(">>> ");
}

function addButton(element) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "run";
  button.textContent = "Run";
  const output = document.createElement("pre");
  output.className = "run-output";
  output.hidden = true;
  output.setAttribute("role", "status");
  output.setAttribute("aria-label", "Output");
  const printed = element.nextElementSibling?.matches(".printed") ? element.nextElementSibling : null;
  (printed ?? element).after(button, output);
  const listing = { button, output, source: element.querySelector("pre").textContent, hasRun: false };
  button.addEventListener("click", () => {
    running = running.then(() => runUpTo(listing));
  });
  return listing;
}

/** Runs a listing and, of a program in parts, those above it that have not run. */
async function runUpTo(listing) {
  const isExample = listing.source.startsWith(">>> ");
  const above = isExample ? [] : listings.slice(0, listings.indexOf(listing)).filter(isPending);
  for (const part of [...above, listing]) {
    if (!(await run(part))) {
      return;
    }
  }
}

const isPending = ({ hasRun, source }) => !hasRun && !source.startsWith(">>> ");

async function run(listing) {
  const { button, output, source } = listing;
  button.disabled = true;
  output.hidden = false;
  output.classList.remove("failed");
  try {
    const python = await (starting ??= start(output));
    output.textContent = "Running";
    output.textContent = (await python(source)) || "Done. It printed nothing.";
    listing.hasRun = true;
  } catch (error) {
    output.textContent = error.message.trim();
    output.classList.add("failed");
  }
  button.disabled = false;
  return listing.hasRun;
}

/** Loads Python; returns a function that runs a text and resolves to what it prints. */
async function start(output) {
  const onProgress = (fraction, text) => {
    output.textContent = `${text} (${Math.round(fraction * 100)} %)`;
  };
  try {
    const { startPython } = await import("../../shared/loader.js");
    const pyodide = await startPython({ onProgress });
    pyodide.runPython(await (await fetch(new URL("run_blocks.py", import.meta.url))).text());
    return pyodide.globals.get("run_listing");
  } catch (error) {
    starting = undefined; // the next press tries again
    throw error;
  }
}

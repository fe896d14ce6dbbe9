// "Run" buttons on the listings of the documentation.
//
// All listings of a page are parts of one program: a button runs the listings above that have not run yet,
// then its own, and shows what they print, and their charts. Python is loaded when the first button is
// pressed.

const LISTINGS = ".highlight-python, .highlight-pycon, .highlight-default";
const ELSEWHERE = ".cpython, .file, .append, .insert";
// What examples need that is not here: NumPy, folders to load from, and WebGL that has not started yet.
const NEEDED = /numpy|mkdtemp|webgl\.(force_half_float|set_context)/;

let starting; // a promise of Python
let running = Promise.resolve();

const isExample = (source) => source.startsWith(">>> ");

const listings = [...document.querySelectorAll(LISTINGS)]
  .filter((element) => element.closest(ELSEWHERE) === null)
  .map((element) => ({ element, source: element.querySelector("pre").textContent, hasRun: false }))
  .filter(({ element, source }) =>
    isExample(source) ? !NEEDED.test(source) : element.matches(".highlight-python"),
  );
listings.forEach(addButton);

function addButton(listing, index) {
  const { element } = listing;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "run";
  button.textContent = "Run";
  button.setAttribute("aria-label", `Run listing ${index + 1}`);
  const output = document.createElement("pre");
  output.className = "run-output";
  output.hidden = true;
  output.tabIndex = 0;
  output.setAttribute("role", "status");
  output.setAttribute("aria-label", `Output of listing ${index + 1}`);
  const printed = element.nextElementSibling?.matches(".printed") ? element.nextElementSibling : element;
  printed.after(button, output);
  button.addEventListener("click", () => {
    running = running.then(() => runUpTo(listing));
  });
  Object.assign(listing, { button, output });
}

/** Runs a listing and, of a program in parts, those above it that have not run. */
async function runUpTo(listing) {
  const above = isExample(listing.source) ? [] : listings.slice(0, listings.indexOf(listing));
  const pending = above.filter(({ hasRun, source }) => !hasRun && !isExample(source));
  for (const part of [...pending, listing]) {
    if (!(await run(part))) {
      return;
    }
  }
}

async function run(listing) {
  const { button, output, source } = listing;
  listing.hasRun = false;
  button.disabled = true;
  output.hidden = false;
  output.classList.remove("failed");
  try {
    const python = await (starting ??= start(output));
    output.textContent = "Running";
    const figures = [];
    const newFigure = () => {
      figures.push(document.createElement("div"));
      output.append(figures.at(-1));
      return figures.at(-1);
    };
    const text = await python(source, newFigure);
    output.replaceChildren(text || (figures.length > 0 ? "" : "Done. It printed nothing."), ...figures);
    listing.hasRun = true;
  } catch (error) {
    output.textContent = error.message.trim();
    output.classList.add("failed");
  }
  button.disabled = false;
  return listing.hasRun;
}

/** Loads Python; returns a function that runs a text, adds figures, and resolves to what is printed. */
async function start(output) {
  const onProgress = (fraction, text) => {
    output.textContent = `${text} (${Math.round(fraction * 100)} %)`;
  };
  try {
    const { startPython } = await import("../../shared/loader.js");
    const pyodide = await startPython({ onProgress });
    pyodide.runPython(await (await fetch(new URL("run_blocks.py", import.meta.url))).text());
    const { shown } = await import("../../shared/terminal.js");
    const runListing = pyodide.globals.get("run_listing");
    return async (source, newFigure) => shown(await runListing(source, newFigure));
  } catch (error) {
    starting = undefined; // the next press tries again
    throw error;
  }
}

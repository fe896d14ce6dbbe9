// A page with a program beside what it shows. The program is a Python file of the page's folder; the
// visitor edits it and runs it again.
//
//   import * as drawing from "../shared/drawing.js";
//   import { showProgram } from "../shared/program_page.js";
//   showProgram("tsne_program.py", { modules: ["digits.py"], libraries: { drawing } });
//
// The page has the elements `#editor`, `#run`, `#reset`, `#run-state`, `#output`, `#facts` and
// `#backend` (`web/tsne/index.html`), and what the program draws on. `<output for="id">` shows the value
// of a control; a control with `data-restarts` runs the program anew (program_page.py).

import { fetchFile } from "./downloads.js";
import { createEditor } from "./editor.js";
import { runPage } from "./loader.js";
import * as terminal from "./terminal.js";

const MODULES = [
  "../shared/evaluation.py",
  "../shared/page.py",
  "../shared/program.py",
  "../shared/python_worker.py",
  "../shared/worker_program.py",
];
const element = (id) => document.getElementById(id);

/**
 * Shows a program in the page's editor, and runs it when Python is there.
 * @param {string} name the program's file, relative to the page
 * @param {{modules?: string[], libraries?: object}} options what it may import by their names:
 *   Python files besides `page` and `program`, and modules of JavaScript.
 */
export async function showProgram(name, { modules = [], libraries = {} } = {}) {
  element("editor").ready = openEditor(name); // web/shared/program_page.py awaits it
  document.querySelectorAll(".controls output[for]").forEach(showValue);
  const pyodide = await runPage("../shared/program_page.py", {
    modules: [...MODULES, ...modules],
    libraries: { terminal, ...libraries },
  });
  if (pyodide === undefined) element("run-state").textContent = "Python could not start here";
}

function showValue(output) {
  const control = element(output.htmlFor.value);
  const show = () => (output.value = control.value);
  control.addEventListener("input", show);
  show();
}

async function openEditor(name) {
  const response = await fetchFile(new URL(name, document.baseURI));
  const source = await response.text();
  const runProgram = () => (element("run").dispatchEvent(new Event("rerun")), true);
  const editor = createEditor({
    parent: element("editor"),
    label: "Python program",
    text: source,
    keys: ["Ctrl-Enter", "Mod-Enter"].map((key) => ({ key, run: runProgram })),
    onChange: () => editor.clearError(),
  });
  element("reset").addEventListener("click", () => editor.setText(source));
  return editor;
}

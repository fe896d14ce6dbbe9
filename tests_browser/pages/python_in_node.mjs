// Python in Node.js, which has neither pages nor, up to version 20, a navigator. Prints what a program
// makes; takes the folder of the library and the program.
import { loadPyodide } from "pyodide";

delete globalThis.navigator;
const [root, program] = process.argv.slice(2);
const python = await loadPyodide();
python.FS.mkdir("/library");
python.FS.mount(python.FS.filesystems.NODEFS, { root }, "/library");
python.runPython('import sys; sys.dont_write_bytecode = True; sys.path.append("/library")');
console.log(python.runPython(program));

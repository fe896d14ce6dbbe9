// Python in a worker: runs the page's program, in which the carts learn.
import { serve } from "../shared/python_worker.js";

const modules = ["../shared/evaluation.py", "../shared/worker_session.py", "cart_pole.py"];
const post = (message) => postMessage(message);

serve(
  modules.map((name) => new URL(name, import.meta.url)),
  (pyodide, { source, backend }) => pyodide.pyimport("worker_session").run(source, backend, post),
);

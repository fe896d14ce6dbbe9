// Lets tests run Python in the page that imports this: they call `waitForPython` and `runPython`.

/** Answers tests by the Python that a promise resolves to. */
export function answerTests(starting) {
  const python = starting.then((pyodide) => {
    pyodide.runPython(RUN_FOR_TEST);
    return pyodide;
  });
  python.catch(() => {}); // whoever awaits it gets the error

  window.waitForPython = async () => void (window.pyodide = await python);

  // Runs Python with `values` (JSON) as its globals; answers {"value": …} or {"error": text}.
  window.runPython = async (source, values) => {
    const pyodide = await python;
    const run = pyodide.globals.get("_run_for_test");
    try {
      return await run(source, values);
    } finally {
      run.destroy();
    }
  };
}

const RUN_FOR_TEST = `
import gc
import json
import traceback

from pyodide.code import eval_code_async


async def _run_for_test(source, values):
    namespace = {"__name__": "__test__", **json.loads(values)}
    if "memory()" in source:
        gc.collect()  # or garbage of earlier runs, freed in this one, would spoil what it counts
    try:
        value = await eval_code_async(source, namespace, filename="<test>")
        return json.dumps({"value": value})
    except BaseException:
        return json.dumps({"error": traceback.format_exc()})
`;

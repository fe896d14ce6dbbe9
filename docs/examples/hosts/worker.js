import { loadPyodide } from "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/pyodide.mjs";

const starting = loadPyodide({ packages: ["micropip"] }).then(async (pyodide) => {
  await pyodide.pyimport("micropip").install("webtensor");
  await pyodide.runPythonAsync(`
    import webtensor as wt

    async def square(rows):
        x = wt.tensor(rows.to_py(), dtype="float32")
        return f"{await (x @ x).array()} on {wt.get_backend()}"
  `);
  return pyodide.globals.get("square");
});

addEventListener("message", async ({ data }) => {
  const square = await starting;
  postMessage(await square(data));
});

// A page that starts Python by itself, as somebody else's site would. Its address says where the wheel's
// JavaScript lies on the site, if anywhere: `?javascript=/…/javascript.js`.
import { answerTests } from "./answer_tests.js";

async function start() {
  const build = await fetch("/build.json").then((response) => response.json());
  const { loadPyodide } = await import(`/${build.pyodide}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: `/${build.pyodide}` });
  const url = new URLSearchParams(location.search).get("javascript");
  if (url !== null) {
    const javascript = await import(url);
    pyodide.registerJsModule("webtensor_javascript", javascript);
  }
  await pyodide.loadPackage(`${location.origin}/${build.wheel}`, { checkIntegrity: false });
  return pyodide;
}

answerTests(start());

import { runPage } from "../shared/loader.js";
runPage("main.py", {
  modules: ["../shared/meter.py", "../shared/page.py", "../shared/python_worker.py", "spirals.py"],
});

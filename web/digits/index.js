import { runPage } from "../shared/loader.js";
runPage("main.py", {
  modules: [
    "../shared/meter.py",
    "../shared/page.py",
    "charts.py",
    "data.py",
    "model.py",
    "pad.py",
    "results.py",
    "training.py",
  ],
});

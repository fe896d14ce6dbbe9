import { runPage } from "../shared/loader.js";
runPage("main.py", {
  modules: [
    "../shared/charts.py",
    "../shared/meter.py",
    "../shared/page.py",
    "data.py",
    "model.py",
    "pad.py",
    "results.py",
    "training.py",
  ],
});

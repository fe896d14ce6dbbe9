import { runPage } from "../shared/loader.js";
runPage("main.py", { modules: ["../shared/meter.py", "../shared/page.py", "spirals.py"] });

import { runPage } from "../shared/loader.js";
runPage("main.py", { modules: ["../shared/page.py", "highlight.py", "linear.py"] });

import { runPage } from "./shared/loader.js";
runPage("index.py", { modules: ["shared/capabilities.py", "shared/page.py"] });

import { runPage } from "../shared/loader.js";
import { speedRow } from "../shared/speed.js";
import * as peer from "./peer.js";

// Python imports these from `js`.
Object.assign(globalThis, { peer, speedRow });

// A file that misses the page must not replace it.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());

await runPage("main.py", {
  modules: [
    "../shared/page.py",
    "filling.py",
    "input_forms.py",
    "opening.py",
    "outputs_panel.py",
    "shipped.py",
    "specifications.py",
    "timing.py",
    "views.py",
  ],
});

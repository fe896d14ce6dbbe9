import { showProgram } from "../shared/program_page.js";
import * as digit_map from "./digit_map.js";

showProgram("tsne_program.py", {
  modules: ["../digits/data.py", "plane.py", "tsne.py"],
  libraries: { digit_map },
});

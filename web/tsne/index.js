import * as drawing from "../shared/drawing.js";
import { showProgram } from "../shared/program_page.js";

showProgram("tsne_program.py", {
  modules: ["../digits/data.py", "plane.py", "tsne.py"],
  libraries: { drawing },
});

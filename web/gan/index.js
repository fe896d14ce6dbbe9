import * as drawing from "../shared/drawing.js";
import { showProgram } from "../shared/program_page.js";

showProgram("gan_program.py", {
  modules: [
    "../shared/charts.py",
    "../shared/curves.py",
    "../shared/fields.py",
    "../shared/pause.py",
    "gan_stage.py",
  ],
  libraries: { drawing },
});

import * as drawing from "../shared/drawing.js";
import { showProgram } from "../shared/program_page.js";
import * as network_view from "./network_view.js";

showProgram("playground_program.py", {
  modules: [
    "../shared/charts.py",
    "../shared/curves.py",
    "../shared/fields.py",
    "../shared/pause.py",
    "playground_stage.py",
    "point_sets.py",
  ],
  libraries: { drawing, network_view },
});

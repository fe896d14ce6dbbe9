import { acceptDrops } from "../shared/file_drop.js";
import { showProgram } from "../shared/program_page.js";

const file = document.getElementById("file");
acceptDrops(document.getElementById("stage"), file);
document.getElementById("sample").addEventListener("click", () => {
  file.value = "";
  file.dispatchEvent(new Event("change"));
});

showProgram("timeseries_program.py", { modules: ["forecast_stage.py", "tables.py"] });

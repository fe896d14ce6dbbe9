import { showProgram } from "../shared/program_page.js";

const text = document.getElementById("text");
const own = document.getElementById("own");
const temperature = document.getElementById("temperature");
const showOwn = () => (own.hidden = text.value !== "own");
const showTemperature = () => (document.getElementById("degrees").value = temperature.value);
text.addEventListener("change", showOwn);
temperature.addEventListener("input", showTemperature);
showOwn(); // browsers keep what was chosen before a page was loaded anew
showTemperature();

showProgram("text_program.py", { modules: ["character_model.py", "recital.py"] });

import * as carts from "./carts.js";
import { showProgram } from "../shared/program_page.js";

showProgram("reinforce_program.py", { modules: ["stage.py"], libraries: { carts } });

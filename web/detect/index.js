import { showPictureProgram } from "../shared/picture_page.js";

showPictureProgram("detect_program.py");

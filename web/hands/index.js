import { showPictureProgram } from "../shared/picture_page.js";

showPictureProgram("hands_program.py");

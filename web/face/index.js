import { showPictureProgram } from "../shared/picture_page.js";

showPictureProgram("face_program.py");

import { showPictureProgram } from "../shared/picture_page.js";

showPictureProgram("segment_program.py");

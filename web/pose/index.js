import { showPictureProgram } from "../shared/picture_page.js";

showPictureProgram("pose_program.py");

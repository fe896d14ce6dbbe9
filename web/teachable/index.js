import { showProgram } from "../shared/program_page.js";

// A file that is dropped beside its place must not replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());

showProgram("teachable_program.py", {
  modules: [
    "../shared/bitmaps.py",
    "class_cards.py",
    "classroom.py",
    "confidences.py",
    "downloads.py",
    "head_files.py",
    "pictures.py",
    "webcam.py",
  ],
});

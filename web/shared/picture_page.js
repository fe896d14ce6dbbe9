// A page whose program looks at a picture: the example photograph, a visitor's image or the webcam
// (`picture.py`). What such a page has besides the elements of `program_page.js` is in
// `web/pose/index.html`.

import * as annotations from "./annotations.js";
import { showProgram } from "./program_page.js";

/** Shows a program that may import `picture`, and further Python files of the page. */
export function showPictureProgram(name, modules = []) {
  // A file that is dropped while no program runs must not replace the page.
  for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
  return showProgram(name, {
    modules: ["../shared/bitmaps.py", "../shared/overlay.py", "../shared/picture.py", ...modules],
    libraries: { annotations },
  });
}

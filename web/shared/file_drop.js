// Files that visitors drop, as if they had chosen them.

/**
 * Puts a file that is dropped onto an element into an input of files.
 * @param {HTMLElement} target it has the class `over` while a file is over it
 * @param {HTMLInputElement} input
 */
export function acceptDrops(target, input) {
  // A file that misses the element must not take the place of the page.
  for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
  target.addEventListener("dragover", () => target.classList.add("over"));
  target.addEventListener("dragleave", () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => {
    target.classList.remove("over");
    if (event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}

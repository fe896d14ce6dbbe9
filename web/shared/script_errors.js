// Says in the page that a script of it could not be loaded, as no other script may be there to say it.
// Those that are asynchronous can be done without.

addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement) || target.async) {
      return;
    }
    document.getElementById("loading")?.remove();
    const box = document.createElement("section");
    box.className = "error";
    box.setAttribute("role", "alert");
    const name = target.getAttribute("src");
    box.textContent = `Something went wrong: ${name}, or a script that it needs, could not be loaded. Reload the page to try again.`;
    document.querySelector("main").prepend(box);
  },
  true, // such events do not bubble
);

import { runPage } from "../shared/loader.js";

// The source can be read before Python is there.
fetch("linear.py")
  .then((response) => response.text())
  .then((source) => (document.getElementById("source").textContent ||= source));

runPage("main.py", {
  modules: ["../shared/charts.py", "../shared/highlight.py", "../shared/page.py", "linear.py"],
});

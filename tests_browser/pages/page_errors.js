// Errors that WebDriver has no event for, kept for the tests to ask.
window.pageErrors = [];
addEventListener("error", (event) => pageErrors.push(String(event.error ?? event.message)));
addEventListener("unhandledrejection", (event) => pageErrors.push(String(event.reason)));
const writeError = console.error;
console.error = (...values) => {
  pageErrors.push(values.map(String).join(" "));
  writeError.apply(console, values);
};

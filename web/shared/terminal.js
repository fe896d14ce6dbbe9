// Text of programs, as a terminal would show it: without codes, and with lines that were overwritten.

/** What colours text in a terminal, or moves its cursor there. */
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;

/** What makes it necessary to look at earlier text again. */
const CONTROLS = /[\r\x1b]/;

/** Returns text without what only terminals understand. */
export function plain(text) {
  return text.replace(SEQUENCES, "");
}

/** Returns plain text in which what follows a carriage return replaces the line. */
export function shown(text) {
  const [head, ...parts] = plain(text).split(/\r(?!\n|$)/);
  return parts.reduce((lines, part) => lines.slice(0, lines.lastIndexOf("\n") + 1) + part, head);
}

/** Adds text to an element of text. */
export function appendText(element, text) {
  if (CONTROLS.test(text) || CONTROLS.test(element.lastChild?.data ?? "")) {
    element.textContent = shown(element.textContent + text);
  } else {
    element.append(text);
  }
}

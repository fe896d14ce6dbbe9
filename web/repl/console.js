// The console: what ran and what came of it, and the prompt with its history.
import { createEditor, highlight } from "../shared/editor.js";
import { plain, shown } from "../shared/terminal.js";
import { markup } from "./markup.js";
import { recall, remember } from "./storage.js";

const LONGEST_STREAM = 100_000; // characters of a program's output that stay in the page
const MAX_ENTRIES = 200;
const MAX_PARTS = 1000; // results and blocks of text, in an entry
const LONGEST_HISTORY = 200;
const PIXELS_OF_END = 24; // who is that near to the end of the transcript wants to see what comes

export class Console {
  /**
   * @param {object} page
   *   `run(source)`: runs a console entry; `isComplete(source)`: whether it can run as it is;
   *   `isBusy()`: whether something runs; `sendLine(text)`: answers input(); `goToLine(number)`:
   *   shows a line of the program; `interrupt()`: stops what runs and could go on afterwards, and
   *   tells whether there was something; `complete` and `signature`: as for `createEditor`.
   */
  constructor(page) {
    this.page = page;
    this.transcript = document.getElementById("transcript");
    this.followsEnd = true; // until the visitor scrolls up
    this.lastScrollTop = 0;
    this.transcript.onscroll = () => this.noteScroll();
    new ResizeObserver(() => this.showLater()).observe(this.transcript); // a long entry leaves it less room
    this.history = recall("history", []);
    this.historyIndex = this.history.length;
    this.draft = "";
    this.entry = null;
    this.waiting = []; // text for the next frame, by streams
    this.frame = null;
    this.inputForm = null;
    this.prompt = createEditor({
      parent: document.getElementById("prompt"),
      label: "Console entry",
      hint: "Enter runs what you write here",
      isProgram: false,
      complete: page.complete,
      signature: page.signature,
      keys: [
        { key: "Enter", run: () => this.submit() },
        { key: "ArrowUp", run: (view) => this.recallEarlier(view) },
        { key: "ArrowDown", run: (view) => this.recallLater(view) },
        { key: "Ctrl-l", run: () => this.clear() },
        { key: "Ctrl-c", run: ({ state }) => state.selection.main.empty && page.interrupt() },
      ],
    });
  }

  // -- entries ------------------------------------------------------------------------------------

  /** Begins an entry, to which all that comes belongs until the next one begins. */
  begin(source) {
    append(this.beginEntry(), "pre", "source").append(highlight(source));
  }

  /** Begins an entry for a program, whose source the editor shows. */
  beginProgram(description) {
    append(this.beginEntry(), "p", "program").textContent = description;
    this.transcript.scrollIntoView({ block: "nearest" }); // on a phone, the console is below
  }

  beginEntry() {
    this.flush();
    this.entry = append(this.transcript, "div", "entry");
    this.trim();
    this.followsEnd = true;
    this.showLater();
    return this.entry;
  }

  /** Adds text of a stream, at the next frame: programs may write thousands of lines a second. */
  write(stream, text) {
    const last = this.waiting.at(-1);
    if (last?.stream === stream) {
      last.text += text;
    } else {
      this.waiting.push({ stream, text });
    }
    if (this.waiting.length > MAX_PARTS || this.waiting.at(-1).text.length > LONGEST_STREAM) {
      this.flush(); // no frame may come, as in a page that is hidden
    }
    this.showLater();
  }

  /** Adds the text that waits. */
  flush() {
    for (const { stream, text } of this.waiting.splice(0)) {
      let block = this.lastEntry().lastElementChild;
      if (!block?.classList.contains(stream)) {
        block = this.addPart("pre", `stream ${stream}`);
      }
      const written = shown(block.textContent + text);
      block.textContent =
        written.length > LONGEST_STREAM ? `…${written.slice(-LONGEST_STREAM / 2)}` : written;
    }
  }

  /** Adds what a value looks like. */
  show(content) {
    this.flush();
    const result = this.addPart("div", "result");
    if (content.kind === "markup") {
      result.append(markup(content.nodes));
    } else if (content.kind === "picture") {
      const picture = append(result, "img");
      picture.alt = "Picture that the program shows";
      picture.onload = () => this.showLater();
      picture.src = content.url;
    } else {
      append(result, "pre").textContent = plain(content.text);
    }
    this.showLater();
  }

  /** Adds a traceback, with all frames behind a disclosure, and a way to the line it leads to. */
  fail({ text, full_text: fullText, line }) {
    this.flush();
    const block = this.addPart("div", "failure");
    append(block, "pre").textContent = plain(text);
    if (line !== null) {
      const button = append(block, "button", "small");
      button.type = "button";
      button.textContent = `Go to line ${line}`;
      button.onclick = () => this.page.goToLine(line);
    }
    if (fullText !== null) {
      const details = append(block, "details");
      append(details, "summary").textContent = "With the frames of libraries";
      append(details, "pre").textContent = plain(fullText);
    }
    this.showLater();
  }

  /** Adds an error that is none of a program's. */
  failInPage(text) {
    this.fail({ text, full_text: null, line: null });
  }

  /** Adds a sentence of the page's own. */
  note(text) {
    this.flush();
    this.addPart("p", "note").textContent = text;
    this.showLater();
  }

  /** Lets the visitor type a line that the program reads. */
  askForLine() {
    this.flush();
    this.endInput(); // of a line that was interrupted
    const form = this.addPart("form", "input-line");
    const field = append(form, "input");
    field.setAttribute("aria-label", this.lastLine() || "Input for the program");
    field.autocomplete = "off";
    form.onsubmit = (event) => {
      event.preventDefault();
      this.answer(field.value);
    };
    field.onkeydown = (event) => {
      if (event.ctrlKey && event.key === "d" && field.value === "") {
        event.preventDefault();
        this.answer(null);
      } else if (event.ctrlKey && event.key === "c" && field.selectionStart === field.selectionEnd) {
        this.page.interrupt();
      }
    };
    this.inputForm = form;
    field.focus();
    this.showLater();
  }

  answer(text) {
    this.endInput();
    this.write("stdout", `${text ?? ""}\n`);
    this.prompt.focus();
    this.page.sendLine(text);
  }

  /** Takes the field for input away, because the line is there or nobody reads it any more. */
  endInput() {
    this.inputForm?.remove();
    this.inputForm = null;
  }

  clear() {
    this.flush();
    this.transcript.replaceChildren();
    this.entry = null;
    if (this.inputForm !== null) {
      this.lastEntry().append(this.inputForm); // the program still waits for its line
    }
    return true;
  }

  /** Adds an element to the last entry, which loses the first text in it when there are many. */
  addPart(tag, className) {
    const part = append(this.lastEntry(), tag, className);
    while (this.entry.childElementCount > MAX_PARTS) {
      this.noteOmission();
      (this.entry.querySelector(":scope > .stream") ?? this.entry.children[2]).remove();
    }
    return part;
  }

  /** Says below the last entry's source that not all of its output is there. */
  noteOmission() {
    const entry = this.lastEntry();
    if (entry.querySelector(":scope > .omission") === null) {
      const note = document.createElement("p");
      note.className = "note omission";
      note.textContent = "Of this output, the first lines are left out.";
      entry.insertBefore(note, entry.children[1] ?? null);
    }
  }

  lastEntry() {
    this.entry ??= append(this.transcript, "div", "entry");
    return this.entry;
  }

  lastLine() {
    const block = this.entry?.querySelector(".stream:last-of-type");
    return block?.textContent.split("\n").pop().trim() ?? "";
  }

  trim() {
    while (this.transcript.childElementCount > MAX_ENTRIES) {
      this.transcript.firstElementChild.remove();
    }
  }

  /** Shows at the next frame what comes, at its end unless the visitor reads what came before. */
  showLater() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.flush();
      if (this.followsEnd) {
        this.transcript.scrollTop = this.transcript.scrollHeight;
      }
    });
  }

  noteScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.transcript;
    const isAtEnd = scrollHeight - clientHeight - scrollTop < PIXELS_OF_END;
    this.followsEnd = isAtEnd || (this.followsEnd && scrollTop >= this.lastScrollTop);
    this.lastScrollTop = scrollTop;
  }

  // -- the prompt and its history -----------------------------------------------------------------

  submit() {
    const source = dedent(this.prompt.text);
    if (source.trim() !== "" && !this.isSubmitting && !this.page.isBusy()) {
      this.isSubmitting = true;
      this.submitWhenComplete(source).finally(() => (this.isSubmitting = false));
    }
    return true;
  }

  async submitWhenComplete(source) {
    const { text, view } = this.prompt;
    if (view.state.sliceDoc(view.state.selection.main.head).trim() !== "" && source.includes("\n")) {
      view.dispatch(view.state.replaceSelection("\n"));
      return;
    }
    const isComplete = await this.page.isComplete(source);
    if (this.page.isBusy()) {
      return; // with what the visitor started meanwhile: the entry stays in the prompt
    }
    if (isComplete) {
      this.keep(source.trimEnd());
      this.prompt.setText("");
      await this.page.run(source.trimEnd());
    } else if (this.prompt.text === text) {
      this.prompt.breakLine();
    }
  }

  keep(source) {
    if (this.history.at(-1) !== source) {
      this.history.push(source);
      this.history.splice(0, this.history.length - LONGEST_HISTORY);
      const stored = [...recall("history", []), source]; // another tab may have added to it
      remember("history", stored.slice(-LONGEST_HISTORY));
    }
    this.historyIndex = this.history.length;
  }

  recallEarlier(view) {
    const { state } = view;
    if (state.doc.lineAt(state.selection.main.head).number > 1 || this.historyIndex === 0) {
      return false;
    }
    if (this.historyIndex === this.history.length) {
      this.draft = this.prompt.text;
    }
    this.historyIndex -= 1;
    this.prompt.setText(this.history[this.historyIndex], { cursorAtEnd: true });
    return true;
  }

  recallLater(view) {
    const { state } = view;
    const isLastLine = state.doc.lineAt(state.selection.main.head).number === state.doc.lines;
    if (!isLastLine || this.historyIndex >= this.history.length) {
      return false;
    }
    this.historyIndex += 1;
    this.prompt.setText(this.history[this.historyIndex] ?? this.draft, { cursorAtEnd: true });
    return true;
  }
}

/** Returns source without the indentation that all of its lines have, as where it was copied from a block. */
export function dedent(source) {
  const lines = source.split("\n");
  const indentations = lines.filter((line) => line.trim()).map((line) => /^ */.exec(line)[0].length);
  const indentation = Math.min(...indentations);
  return lines.map((line) => line.slice(indentation)).join("\n");
}

function append(parent, tag, className = "") {
  const element = parent.appendChild(document.createElement(tag));
  element.className = className;
  return element;
}

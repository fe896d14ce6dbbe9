// Editors for Python, by CodeMirror. The site serves this file bundled with what it imports from
// npm (web/bundle.py).
//
// An editor lives in a shadow root: CodeMirror then makes its styles as style sheets of script,
// which pages' Content-Security-Policy permits, rather than as <style> elements, which it forbids.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionStatus,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, insertNewlineAndIndent } from "@codemirror/commands";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bidiIsolates, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutterLineClass,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
  showTooltip,
} from "@codemirror/view";
import { classHighlighter, highlightCode } from "@lezer/highlight";

const MILLISECONDS_BEFORE_SIGNATURE = 120;

/**
 * Makes an editor for Python in an element of the page.
 * @param {object} options
 *   `parent`: the element; `label`: what screen readers call the editor; `text`: what it begins with;
 *   `isProgram`: whether it has line numbers, search and Tab for indentation, as programs want, or
 *   is a prompt; `hint`: what an empty editor shows; `keys`: CodeMirror key bindings of the page's;
 *   `onChange()`: hears of edits; `complete(before)` and `signature(before)`: ask for completions
 *   and for the signature of a call at the end of a text, as `web/repl/completion.py` returns them.
 */
export function createEditor({
  parent,
  label,
  text = "",
  isProgram = true,
  hint = "",
  keys = [],
  onChange = () => {},
  complete = null,
  signature = null,
}) {
  const root = parent.attachShadow({ mode: "open" });
  const extensions = [
    Prec.high(keymap.of(keys)),
    history(),
    python(),
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    indentOnInput(),
    bracketMatching(),
    bidiIsolates(), // else the code beside strings in Arabic or Hebrew changes its order
    closeBrackets(),
    syntaxHighlighting(classHighlighter),
    theme,
    errorMark,
    placeholder(hint),
    EditorView.contentAttributes.of({
      "aria-label": label,
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
      tabindex: "0", // the field is focusable without, but tools for accessibility do not know
    }),
    EditorView.clipboardInputFilter.of(sourceOfSession),
    typingOverSelection,
    EditorView.updateListener.of((update) => update.docChanged && onChange()),
    isProgram ? forPrograms : forPrompts,
    keymap.of([...closeBracketsKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
  if (complete !== null) {
    extensions.push(autocompletion({ override: [completionSource(complete)], icons: false }));
  }
  if (signature !== null) {
    extensions.push(signatureHelp(signature));
  }
  const view = new EditorView({ parent: root, root, state: EditorState.create({ doc: text, extensions }) });
  return new PythonEditor(view);
}

/** Returns source as nodes with a class for each kind of token, for source outside of editors. */
export function highlight(source) {
  const nodes = new DocumentFragment();
  const putText = (text, classes) => {
    const span = document.createElement("span");
    span.className = classes;
    span.textContent = text;
    nodes.append(classes ? span : text);
  };
  highlightCode(source, pythonLanguage.parser.parse(source), classHighlighter, putText, () => nodes.append("\n"));
  return nodes;
}

/** Returns what was entered in a session of Python's that was copied with its prompts and output. */
function sourceOfSession(text) {
  if (!/^\s*>>>(\s|$)/.test(text)) {
    return text;
  }
  const entries = text.split(/\r?\n/).map((line) => /^\s*(?:>>>|\.\.\.)(?: (.*)|\s*)$/.exec(line));
  return entries.flatMap((entry) => (entry === null ? [] : [entry[1] ?? ""])).join("\n");
}

/**
 * Replaces a selection by what is typed over it. Chromium would keep the look of a token by an inline
 * style, which pages' Content-Security-Policy forbids.
 */
const typingOverSelection = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { state } = view;
    const { from, to, empty } = state.selection.main;
    if (inputType !== "insertText" || empty) {
      return false;
    }
    const insert = () => state.update(state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))) {
      view.dispatch(insert());
    }
    return true;
  },
});

class PythonEditor {
  constructor(view) {
    this.view = view;
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Replaces the text, and puts the cursor at its end, or for programs at its beginning. */
  setText(text, { cursorAtEnd = false } = {}) {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: cursorAtEnd ? text.length : 0 },
      scrollIntoView: true,
    });
  }

  /** Begins a line, as deep as Python wants it. */
  breakLine() {
    insertNewlineAndIndent(this.view);
  }

  /** The selected text, which may be empty. */
  get selection() {
    const { from, to } = this.view.state.selection.main;
    return this.view.state.sliceDoc(from, to);
  }

  /** Marks a line with what is wrong there, until the text changes. */
  markError(lineNumber, message) {
    const { doc } = this.view.state;
    if (lineNumber >= 1 && lineNumber <= doc.lines) {
      const { from } = doc.line(lineNumber);
      this.view.dispatch({
        effects: [setError.of({ from, message }), EditorView.scrollIntoView(from, { y: "nearest" })],
      });
    }
  }

  clearError() {
    this.view.dispatch({ effects: setError.of(null) });
  }

  /** Puts the cursor at the beginning of a line. */
  goToLine(lineNumber) {
    const { doc } = this.view.state;
    const line = doc.line(Math.min(Math.max(lineNumber, 1), doc.lines));
    this.view.dispatch({ selection: { anchor: line.from }, scrollIntoView: true });
    this.focus();
  }

  focus() {
    this.view.focus();
  }
}

// -- what programs and prompts have for themselves ------------------------------------------------

const forPrograms = [
  lineNumbers(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  keymap.of([{ key: "Tab", run: acceptCompletion }, indentWithTab, ...searchKeymap]),
];

/** Tab completes, indents where a line begins, and leaves a prompt that is empty. */
function tabInPrompt(view) {
  const { state } = view;
  if (completionStatus(state) !== null) {
    acceptCompletion(view); // which waits for completions that have only just appeared
    return true;
  }
  if (state.doc.length === 0) {
    return false;
  }
  const { head } = state.selection.main;
  const before = state.sliceDoc(state.doc.lineAt(head).from, head);
  if (before.trim() === "") {
    view.dispatch(state.replaceSelection("    "));
    return true;
  }
  return startCompletion(view);
}

const forPrompts = [
  EditorView.lineWrapping,
  keymap.of([
    { key: "Tab", run: tabInPrompt },
    { key: "Shift-Enter", run: insertNewlineAndIndent },
  ]),
];

// -- completions and signatures --------------------------------------------------------------------

function completionSource(complete) {
  return async (context) => {
    const before = context.state.sliceDoc(0, context.pos);
    const isName = context.matchBefore(/[\w.]$/) !== null;
    if ((!isName && !context.explicit) || isText(context.state, context.pos)) {
      return null;
    }
    const completions = await complete(before);
    if (completions === null || context.aborted) {
      return null;
    }
    const { prefix, options } = completions;
    return { from: context.pos - prefix.length, options, validFor: /^\w*$/ };
  };
}

function isText(state, position) {
  return /String|Comment/.test(syntaxTree(state).resolveInner(position, -1).name);
}

function signatureHelp(signature) {
  const setTooltip = StateEffect.define();
  const tooltip = StateField.define({
    create: () => null,
    update(value, transaction) {
      for (const effect of transaction.effects) {
        if (effect.is(setTooltip)) {
          return effect.value;
        }
      }
      return value === null ? null : { ...value, pos: transaction.changes.mapPos(value.pos) };
    },
    provide: (field) => showTooltip.from(field),
  });
  let timer = null;
  let isDismissed = false;
  const ask = async (view) => {
    const { state } = view;
    const { head } = state.selection.main;
    const answer = isText(state, head) ? null : await signature(state.sliceDoc(0, head));
    if (view.state === state && (answer !== null || state.field(tooltip) !== null)) {
      const value = answer && { pos: head, above: true, create: () => ({ dom: signatureElement(answer) }) };
      view.dispatch({ effects: setTooltip.of(value) });
    }
  };
  const listener = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      isDismissed = false;
    }
    if ((update.docChanged || update.selectionSet) && update.view.hasFocus && !isDismissed) {
      clearTimeout(timer);
      timer = setTimeout(() => ask(update.view), MILLISECONDS_BEFORE_SIGNATURE);
    }
  });
  const dismiss = (view) => {
    clearTimeout(timer);
    if (view.state.field(tooltip) === null) {
      return false;
    }
    isDismissed = true;
    view.dispatch({ effects: setTooltip.of(null) });
    return true;
  };
  const hide = EditorView.domEventHandlers({ blur: (event, view) => void dismiss(view) });
  return [tooltip, listener, hide, keymap.of([{ key: "Escape", run: dismiss }])];
}

function signatureElement({ name, parameters, active, summary }) {
  const element = document.createElement("div");
  element.className = "signature";
  element.setAttribute("role", "status");
  const call = element.appendChild(document.createElement("code"));
  call.append(`${name}(`);
  parameters.forEach((parameter, index) => {
    call.append(index > 0 ? ", " : "");
    const part = call.appendChild(document.createElement(index === active ? "b" : "span"));
    part.textContent = parameter;
  });
  call.append(")");
  if (summary) {
    element.appendChild(document.createElement("p")).textContent = summary;
  }
  return element;
}

// -- the line of an error --------------------------------------------------------------------------

const setError = StateEffect.define();

const errorMark = StateField.define({
  create: () => null,
  update(error, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setError)) {
        return effect.value;
      }
    }
    return transaction.docChanged ? null : error;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (error) =>
      error === null
        ? Decoration.none
        : Decoration.set([
            Decoration.line({ class: "error-line", attributes: { "data-error": error.message } }).range(error.from),
          ]),
    ),
    gutterLineClass.from(field, (error) =>
      error === null ? RangeSet.empty : RangeSet.of([errorGutterMarker.range(error.from)]),
    ),
  ],
});

const errorGutterMarker = new (class extends GutterMarker {
  elementClass = "error-line-number";
})();

// -- look ------------------------------------------------------------------------------------------

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-gutters": { background: "transparent", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "transparent" },
  "&.cm-focused .cm-activeLine": { background: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--text)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    background: "color-mix(in srgb, var(--accent) 25%, transparent)",
    color: "inherit",
  },
  ".cm-selectionMatch": { background: "color-mix(in srgb, var(--second) 22%, transparent)" },
  ".cm-searchMatch": { background: "color-mix(in srgb, var(--second) 35%, transparent)" },
  ".error-line": {
    background: "color-mix(in srgb, var(--bad) 12%, transparent)",
    boxShadow: "inset 3px 0 0 var(--bad)",
  },
  ".error-line::after": {
    content: '"  ← " attr(data-error)',
    color: "var(--bad)",
    fontStyle: "italic",
    whiteSpace: "pre",
  },
  ".error-line-number": { color: "var(--bad)", fontWeight: "700" },
  ".tok-keyword, .tok-bool": { color: "var(--accent)", fontWeight: "600" },
  ".tok-string, .tok-string2": { color: "var(--good)" },
  ".tok-number": { color: "var(--second)" },
  ".tok-comment": { color: "var(--muted)", fontStyle: "italic" },
  ".tok-definition": { fontWeight: "600" },
  ".cm-tooltip, .cm-panels": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "0.35rem",
  },
  ".cm-tooltip": { boxShadow: "0 0.3rem 1rem rgb(0 0 0 / 25%)", maxWidth: "min(36rem, 92vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "14rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.15rem 0.6rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".signature": { padding: "0.4rem 0.7rem", fontSize: "0.8125rem", lineHeight: "1.4" },
  ".signature code": { fontFamily: "var(--mono)", overflowWrap: "anywhere" },
  ".signature b": { color: "var(--accent)" },
  ".signature p": { margin: "0.3rem 0 0", color: "var(--muted)", fontFamily: "system-ui, sans-serif" },
  ".cm-panel.cm-search": { padding: "0.5rem" },
  ".cm-panel.cm-search label": { fontSize: "0.8125rem" },
  ".cm-textfield, .cm-button": {
    background: "var(--background)",
    backgroundImage: "none",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "0.35rem",
    fontSize: "0.8125rem",
  },
});

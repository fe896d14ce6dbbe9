// The panel of files: those of the working folder of Python, to upload, open, download and delete.
import { RestartError } from "./interpreter.js";

const MAX_NAMES = 5; // of uploaded files, in the status

export class Files {
  /**
   * @param {import("./interpreter.js").Interpreter} interpreter
   * @param {{onOpen: (name: string, text: string) => void, program: () => string}} page
   */
  constructor(interpreter, page) {
    this.interpreter = interpreter;
    this.page = page;
    this.list = document.getElementById("files");
    this.status = document.getElementById("files-status");
    const upload = document.getElementById("upload");
    upload.onchange = async () => {
      await this.upload([...upload.files]);
      upload.value = "";
    };
    document.getElementById("save-program").onclick = () => save("program.py", page.program());
    // A file that misses the panel must not replace the page. The editor takes those for itself.
    const hasFiles = ({ dataTransfer }) => dataTransfer.types.includes("Files");
    addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      if (hasFiles(event) && !event.defaultPrevented) {
        event.preventDefault();
        this.upload([...event.dataTransfer.files]);
      }
    });
  }

  /** Writes files into Python's working folder. */
  async upload(files) {
    await this.attempt(async () => {
      const names = [];
      const failures = [];
      for (const file of files) {
        try {
          await this.write(file);
          names.push(file.name);
        } catch (error) {
          if (error instanceof RestartError) {
            throw error;
          }
          failures.push(error.message);
        }
      }
      const uploaded = names.length > MAX_NAMES ? `${names.length} files` : names.join(", ");
      const sentences = uploaded === "" ? failures : [`Uploaded ${uploaded}`, ...failures];
      this.status.textContent = sentences.slice(0, MAX_NAMES).join(". ");
    });
    await this.refresh();
  }

  async write(file) {
    const content = await file.arrayBuffer().catch(() => {
      throw new Error(`${file.name} cannot be read. Folders cannot be uploaded.`);
    });
    await this.interpreter.request("writeFile", file.name, content);
  }

  /** Shows the files that there are. Rows that have not changed stay: their buttons may be clicked. */
  async refresh() {
    await this.attempt(async () => {
      const { files, others } = await this.interpreter.request("listFiles");
      const shown = JSON.stringify([files, others]);
      if (shown !== this.shown) {
        this.shown = shown;
        this.list.replaceChildren(...files.map(({ name, size }) => this.row(name, size)));
        if (others > 0) {
          this.list.appendChild(document.createElement("li")).textContent = `and ${others} more`;
        }
      }
    });
  }

  /** Does something with files, and says why it failed, save where Python was restarted meanwhile. */
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RestartError)) {
        this.status.textContent = error.message;
      }
    }
  }

  clear() {
    this.shown = "";
    this.list.replaceChildren();
    this.status.textContent = "";
  }

  row(name, size) {
    const row = document.createElement("li");
    const label = row.appendChild(document.createElement("span"));
    label.textContent = name;
    const amount = row.appendChild(document.createElement("span"));
    amount.className = "muted";
    amount.textContent = readableSize(size);
    const buttons = row.appendChild(document.createElement("span"));
    buttons.className = "row";
    const addButton = (action, work) =>
      buttons.append(
        button(action, name, async () => {
          await this.attempt(work);
          await this.refresh(); // a program may have deleted it
        }),
      );
    if (name.endsWith(".py")) {
      addButton("Open", () => this.open(name));
    }
    addButton("Download", () => this.download(name));
    addButton("Delete", () => this.remove(name));
    return row;
  }

  async open(name) {
    const bytes = await this.interpreter.request("readFile", name);
    this.page.onOpen(name, new TextDecoder().decode(bytes));
  }

  async download(name) {
    save(name.split("/").pop(), await this.interpreter.request("readFile", name));
  }

  async remove(name) {
    await this.interpreter.request("removeFile", name);
    this.status.textContent = `Deleted ${name}`;
  }
}

function button(action, name, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "small";
  element.textContent = action;
  element.setAttribute("aria-label", `${action} ${name}`);
  element.onclick = onClick;
  return element;
}

/** Has the browser save a file. */
function save(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the download has begun by then
}

function readableSize(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power && bytes < 10 * 1000 ** power ? 1 : 0)} ${units[power]}`;
}

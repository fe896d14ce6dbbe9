// The files of what a page's visitor dropped. Folders are listed by callbacks of JavaScript, and files
// are read straight to their places in Python's memory.
export default function visitorFiles(module) {
  const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

  // A folder is listed in parts; an empty one ends the list.
  const entriesOf = async (folder) => {
    const reader = folder.createReader();
    const entries = [];
    for (;;) {
      const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (part.length === 0) {
        return entries;
      }
      entries.push(...part);
    }
  };

  // What was dropped is known only while the drop is handled.
  const dropped = (items) =>
    [...items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter(Boolean);

  const listed = async (entries, limit) => {
    const files = [];
    const waiting = [...entries];
    while (waiting.length > 0 && files.length <= limit) {
      const entry = waiting.shift();
      if (entry.isDirectory) {
        waiting.push(...(await entriesOf(entry)));
      } else {
        files.push(entry.isFile ? await fileOf(entry) : entry);
      }
    }
    return files;
  };

  const read = async (file, address) => {
    const data = await file.arrayBuffer();
    module.HEAPU8.set(new Uint8Array(data), address);
  };

  return { dropped, listed, read };
}

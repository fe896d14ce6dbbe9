// The library's JavaScript, for the page to hand to Python: see `docs/content_security.md`.
export { default as calls } from "./backends/wasm/calls.js";
export { default as threads } from "./backends/wasm/threads.js";
export { default as device } from "./backends/webgl/device.js";
export { default as sharing } from "./backends/webgl/sharing.js";
export { default as webgl1 } from "./backends/webgl/webgl1.js";
export { default as media } from "./data/media.js";
export { default as quantization } from "./formats/quantization.js";
export { default as fetching } from "./io/fetching.js";
export { default as indexed_db } from "./io/indexed_db.js";
export { default as visitor_files } from "./io/visitor_files.js";

export const version = "0.1.0"; // of the wheel that these files are from

// Where workers find the files.
export const folder = new URL("./", import.meta.url).href;

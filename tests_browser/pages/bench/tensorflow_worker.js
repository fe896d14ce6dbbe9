// A thread of TensorFlow.js's WebAssembly backend. The package's code for it would import the package's
// other script from a blob, which policies such as this site's forbid; here it comes from the site.

const FOLDER = new URL("../tensorflow/", location.href);
const importSiteScripts = importScripts;

globalThis.importScripts = () =>
  importSiteScripts(new URL("tfjs-backend-wasm-threaded-simd.js", FOLDER).href);
importSiteScripts(new URL("tfjs-backend-wasm-threaded-simd.worker.js", FOLDER).href);

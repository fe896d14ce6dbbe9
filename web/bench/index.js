import { runPage } from "../shared/loader.js";
import { speedRow } from "../shared/speed.js";
import { measurePeak, measureRate } from "./peer/peak.js";
import * as peer from "./peer/tensorflow.js";

// Python imports these from `js`.
Object.assign(globalThis, { measurePeak, measureRate, peer, speedRow });

await runPage("main.py", { modules: ["../shared/page.py", "measurements.py"] });

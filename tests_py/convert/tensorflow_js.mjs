// Runs graph models in TensorFlow.js: a request per line of the input, an answer per line of the
// output. A request names the folder of a model, its inputs as {name: {dtype, shape, elements}}.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const tf = require("@tensorflow/tfjs");

function artifacts(folder) {
  const model = JSON.parse(readFileSync(`${folder}/model.json`));
  const [group] = model.weightsManifest;
  const data = Buffer.concat(group.paths.map((path) => readFileSync(`${folder}/${path}`)));
  return {
    ...model,
    weightSpecs: group.weights,
    weightData: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength),
  };
}

async function answer({ folder, inputs, kind }) {
  const handler = { load: async () => artifacts(folder) };
  const model = await (kind === "layers" ? tf.loadLayersModel(handler) : tf.loadGraphModel(handler));
  const feeds = Object.entries(inputs).map(([name, { dtype, shape, elements }]) => [
    name,
    tf.tensor(elements, shape, dtype),
  ]);
  const results = await (kind === "layers"
    ? model.predict(feeds.map(([, value]) => value))
    : model.executeAsync(Object.fromEntries(feeds)));
  const values = Array.isArray(results) ? results : [results];
  return Promise.all(
    values.map(async (value) => ({
      dtype: value.dtype,
      shape: value.shape,
      elements: Array.from(await value.data()),
    })),
  );
}

await tf.setBackend("cpu");
for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    result = { outputs: await answer(JSON.parse(line)) };
  } catch (error) {
    result = { error: String(error.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

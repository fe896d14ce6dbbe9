// Runs graph models with TensorFlow.js; tfjs_cases.js has how tensors are encoded.

function bytesOfWeight({ dtype, elements }) {
  if (dtype !== "string") return bytesOf(elements);
  return Uint8Array.from(elements.map(bytesOf).flatMap((text) => {
    const length = new Uint8Array(Uint32Array.of(text.length).buffer);
    return [...length, ...text];
  }));
}

async function loaded({ topology, weights }) {
  const parts = weights.map(bytesOfWeight);
  return tf.loadGraphModel(tf.io.fromMemory({
    modelTopology: topology,
    format: "graph-model",
    weightSpecs: weights.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
    weightData: await new Blob(parts).arrayBuffer(),
  }));
}

// Graphs as JSON, each with its constants as `weights`, tensors to feed, and names to fetch.
window.runGraphsWithTensorflow = async (json) => {
  await tf.setBackend("cpu");
  const results = [];
  for (const graph of JSON.parse(json)) {
    try {
      const model = await loaded(graph);
      const feeds = Object.fromEntries(
        Object.entries(graph.feeds).map(([name, value]) => [name, decode(value)]),
      );
      results.push(await encode([await model.executeAsync(feeds, graph.fetches)].flat()));
    } catch (error) {
      results.push({ error: String(error) });
    }
  }
  return JSON.stringify(results);
};

// The database of TensorFlow.js's models: its name, version, stores and records are TensorFlow.js's,
// so that either finds what the other has left. Promises and structured clones are JavaScript's, so
// this is, too.
export default function models() {
  const MODELS = "models_store";
  const FACTS = "model_info_store";

  const settled = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });

  // Errors of databases have no stack in Chromium, so Python would not see that they are errors.
  const named = (error) =>
    Object.assign(new Error(error?.message), { name: error?.name ?? "AbortError" });

  const within = (mode, action) =>
    attempt(mode, action).catch((error) => Promise.reject(named(error)));

  async function attempt(mode, action) {
    const opening = indexedDB.open("tensorflowjs", 1);
    opening.onupgradeneeded = () => {
      for (const store of [MODELS, FACTS]) {
        opening.result.createObjectStore(store, { keyPath: "modelPath" });
      }
    };
    const database = await settled(opening);
    try {
      const transaction = database.transaction([MODELS, FACTS], mode);
      const finished = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const [result] = await Promise.all([
        action(transaction.objectStore(MODELS), transaction.objectStore(FACTS)),
        finished,
      ]);
      return result;
    } finally {
      database.close();
    }
  }

  // Long texts come from Python as arrays that become them, see `javascript_text`; JSON.parse asks for
  // that by itself, keys do not.
  //
  // Both records are written in one transaction: there is all of a model, or nothing.
  const put = (name, described, data, facts) => {
    const modelPath = String(name);
    const modelArtifacts = JSON.parse(described);
    if (modelArtifacts.weightSpecs) {
      modelArtifacts.weightData = data.buffer;
    }
    const modelArtifactsInfo = JSON.parse(facts);
    modelArtifactsInfo.dateSaved = new Date(modelArtifactsInfo.dateSaved);
    return within("readwrite", async (models, infos) => {
      infos.put({ modelPath, modelArtifactsInfo });
      await settled(models.put({ modelPath, modelArtifacts, modelArtifactsInfo }));
    });
  };

  const get = (name) =>
    within("readonly", async (models) => {
      const record = await settled(models.get(String(name)));
      return record && record.modelArtifacts;
    }).then(async (artifacts) => {
      if (artifacts === undefined) {
        return undefined;
      }
      const { weightData, ...described } = artifacts;
      const pieces = weightData === undefined ? [] : [weightData].flat();
      const joined = await new Blob(pieces).arrayBuffer();
      return [JSON.stringify(described), new Uint8Array(joined)];
    });

  const information = () =>
    within("readonly", (_, infos) => settled(infos.getAll())).then((records) =>
      JSON.stringify(
        Object.fromEntries(
          records.map(({ modelPath, modelArtifactsInfo }) => [modelPath, modelArtifactsInfo]),
        ),
      ),
    );

  const remove = (name) =>
    within("readwrite", async (models, infos) => {
      infos.delete(String(name));
      await settled(models.delete(String(name)));
    });

  return { put, get, information, remove };
}

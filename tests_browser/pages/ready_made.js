// TensorFlow.js's packages of ready-made models, and the frames that they and webtensor look at.
// Results are plain values: keypoints [x, y, score], boxes [x, y, x, y].

const { tf, poseDetection, posenet, blazeface, knnClassifier } = globalThis;
const { bodySegmentation, faceLandmarksDetection, mobilenet, speechCommands, use } = globalThis;

// Canvases with parts of the photograph, each as [left, top, width, height].
globalThis.loadFrames = async (url, [height, width], parts) => {
  const rgb = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const rgba = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let pixel = 0; pixel < height * width; pixel += 1) {
    rgba.set(rgb.subarray(3 * pixel, 3 * pixel + 3), 4 * pixel);
  }
  globalThis.frames = parts.map(([left, top, frameWidth, frameHeight]) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [frameWidth, frameHeight];
    canvas.getContext("2d").putImageData(new ImageData(rgba, width), -left, -top);
    return canvas;
  });
};

const plainPose = ({ keypoints, score }, position) => ({
  score,
  keypoints: keypoints.map((keypoint) => {
    const { x, y } = position(keypoint);
    return [x, y, keypoint.score];
  }),
});

// Frames of a video where there are timestamps, in milliseconds, else single images.
const movenet = async (url, { modelType, times }) => {
  const detector = await poseDetection.createDetector(poseDetection.SupportedModels.MoveNet, {
    modelType,
    modelUrl: url,
    enableTracking: false,
  });
  const results = [];
  for (const [index, frame] of globalThis.frames.entries()) {
    if (!times && modelType.startsWith("Single")) detector.reset();
    const poses = await detector.estimatePoses(frame, {}, times?.[index]);
    results.push(poses.map((pose) => plainPose(pose, (keypoint) => keypoint)));
  }
  detector.dispose();
  return results;
};

// The package takes only models whose input is of any size, so it gets another base.
const posenetBase = (model) => {
  const names = ["heatmap", "offset", "displacement_fwd", "displacement_bwd"].map((part) =>
    model.outputNodes.find((name) => name.includes(part)),
  );
  return {
    outputStride: 16,
    predict: (image) =>
      tf.tidy(() => {
        const input = tf.expandDims(tf.sub(tf.div(tf.cast(image, "float32"), 127.5), 1), 0);
        const [heatmap, ...maps] = model.execute(input, names).map((map) => tf.squeeze(map, [0]));
        const [offsets, displacementFwd, displacementBwd] = maps;
        return { heatmapScores: tf.sigmoid(heatmap), offsets, displacementFwd, displacementBwd };
      }),
    dispose: () => model.dispose(),
  };
};

const posenetPoses = async (url, { single, ...options }) => {
  const model = await tf.loadGraphModel(url);
  const [, height, width] = model.inputs[0].shape;
  const net = new posenet.PoseNet(posenetBase(model), [height, width]);
  const results = [];
  for (const frame of globalThis.frames) {
    const poses = single
      ? [await net.estimateSinglePose(frame, options)]
      : await net.estimateMultiplePoses(frame, options);
    results.push(poses.map((pose) => plainPose(pose, (keypoint) => keypoint.position)));
  }
  net.dispose();
  return results;
};

// The package takes only models of one output, so that others are joined.
const joined = (model) => ({
  predict: (input) => {
    const [logits, numbers] = [1, 16].map((size) =>
      tf.concat(
        model
          .predict(input)
          .filter(({ shape }) => shape[2] === size)
          .sort((first, second) => second.shape[1] - first.shape[1]),
        1,
      ),
    );
    return tf.concat([logits, numbers], 2);
  },
  dispose: () => model.dispose(),
});

const faces = async (url, { flip }) => {
  const model = await tf.loadGraphModel(url);
  const size = model.inputs[0].shape[1];
  const detector = new blazeface.BlazeFaceModel(
    model.outputs.length === 1 ? model : joined(model),
    ...[size, size, 10, 0.3, 0.75],
  );
  const results = [];
  for (const frame of globalThis.frames) {
    const estimated = await detector.estimateFaces(frame, false, flip);
    results.push(
      estimated.map(({ topLeft, bottomRight, landmarks, probability }) => ({
        score: probability[0],
        box: [
          Math.min(topLeft[0], bottomRight[0]),
          topLeft[1],
          Math.max(topLeft[0], bottomRight[0]),
          bottomRight[1],
        ],
        keypoints: landmarks.map(([x, y]) => [x, y, 1]),
      })),
    );
  }
  detector.dispose();
  return results;
};

const meshes = async (url, { detector: detectorModelUrl, attention }) => {
  const detector = await faceLandmarksDetection.createDetector(
    faceLandmarksDetection.SupportedModels.MediaPipeFaceMesh,
    { runtime: "tfjs", refineLandmarks: attention, landmarkModelUrl: url, detectorModelUrl },
  );
  const results = [];
  for (const frame of globalThis.frames) {
    detector.reset();
    const estimated = await detector.estimateFaces(frame, { staticImageMode: true });
    results.push(
      estimated.map(({ keypoints, box }) => ({
        score: 1,
        box: [box.xMin, box.yMin, box.xMax, box.yMax],
        keypoints: keypoints.map(({ x, y }) => [x, y, 1]),
      })),
    );
  }
  detector.dispose();
  return results;
};

// The package takes the second of two channels as the probability of a person.
const masks = async (url, { modelType, channels }) => {
  const segmenter = await bodySegmentation.createSegmenter(
    bodySegmentation.SupportedModels.MediaPipeSelfieSegmentation,
    { runtime: "tfjs", modelType, modelUrl: url },
  );
  const { model } = segmenter;
  segmenter.model = {
    predict: (image) => {
      const output = model.predict(image);
      return channels === 2 ? tf.softmax(output) : tf.concat([tf.sub(1, output), output], 3);
    },
    dispose: () => model.dispose(),
  };
  const results = [];
  for (const frame of globalThis.frames) {
    const [{ mask }] = await segmenter.segmentPeople(frame);
    const tensor = await mask.toTensor();
    results.push(await tf.slice(tensor, [0, 0, 0], [-1, -1, 1]).squeeze([2]).array());
    tensor.dispose();
  }
  segmenter.dispose();
  return results;
};

const neighbors = async (_, { examples, labels, queries, k }) => {
  const classifier = knnClassifier.create();
  examples.forEach((example, index) => classifier.addExample(tf.tensor(example), labels[index]));
  const results = [];
  for (const query of queries) {
    const { label, classIndex, confidences } = await classifier.predictClass(tf.tensor(query), k);
    results.push({ label, classIndex, confidences });
  }
  classifier.dispose();
  return results;
};

const sentences = async (modelUrl, { texts }) => {
  const encoder = await use.load({ modelUrl, vocabUrl: modelUrl.replace("model.json", "vocab.json") });
  const vectors = await encoder.embed(texts);
  const result = { indices: texts.map((text) => encoder.tokenizer.encode(text)), vectors: await vectors.array() };
  vectors.dispose();
  encoder.model.dispose();
  return result;
};

// The likeliest classes of each frame, as their numbers and their probabilities.
const classes = async (modelUrl) => {
  const model = await mobilenet.load({ version: 1, alpha: 0.25, modelUrl });
  const results = [];
  for (const frame of globalThis.frames) {
    const { values, indices } = tf.tidy(() => tf.topk(tf.softmax(model.infer(frame)), 5));
    const [probabilities, numbers] = [await values.data(), await indices.data()];
    results.push([...numbers].map((number, place) => [number, probabilities[place]]));
    tf.dispose([values, indices]);
  }
  model.model.dispose();
  return results;
};

const speech = async (modelUrl, { spectrograms }) => {
  const metadataUrl = modelUrl.replace("model.json", "metadata.json");
  const recognizer = speechCommands.create("BROWSER_FFT", undefined, modelUrl, metadataUrl);
  await recognizer.ensureModelLoaded();
  const results = [];
  for (const spectrogram of spectrograms) {
    const input = tf.tensor([spectrogram]);
    const { scores, embedding } = await recognizer.recognize(input, { includeEmbedding: true });
    results.push([[...scores], [...(await embedding.data())]]);
    tf.dispose([input, embedding]);
  }
  return results;
};

const PACKAGES = {
  movenet,
  posenet: posenetPoses,
  blazeface: faces,
  meshes,
  masks,
  knn: neighbors,
  sentences,
  classes,
  speech,
};

globalThis.theirs = async (name, backend, url, options) => {
  await tf.setBackend(backend);
  return PACKAGES[name](url, options);
};

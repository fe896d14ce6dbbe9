// TensorFlow.js's ready-made model of poses, and the frame of a webcam that both sides look at.
//
// The package is loaded in pages alone that rows of it need: other rows work where it isn't installed.

import information from "/packages/@tensorflow-models/pose-detection/package.json" with { type: "json" };

import { setBackend } from "/bench/peer/tensorflow.js";

const { tf } = globalThis;

const MODEL = "/pretrained/movenet-lightning.json"; // as in poses.py
const FRAME_MS = 40;
const HEAD = 5;

/** What its backends are called in the table of workloads: "pose-detection wasm". */
export const PREFIX = "pose-detection ";

export const { version } = information;

const [WIDTH, HEIGHT] = [640, 480];

/** The astronaut on a canvas of a webcam's size. */
export const frame = await draw("/pretrained/astronaut.jpg");

/** Resolves to a function that finds the head in the next frame, and one that frees the model. */
export async function open(backend, threads) {
  await setBackend(backend.slice(PREFIX.length), threads);
  tf.env().set("WEBGL_CPU_FORWARD", true); // as in pages that use the package
  const { createDetector, SupportedModels } = await load();
  const detector = await createDetector(SupportedModels.MoveNet, {
    modelType: "SinglePose.Lightning",
    modelUrl: MODEL,
  });
  let time = 0;
  const call = async () => {
    time += FRAME_MS;
    const [{ keypoints }] = await detector.estimatePoses(frame, {}, time);
    return tf.tensor2d(keypoints.slice(0, HEAD).map(({ x, y }) => [x, y]));
  };
  return { call, close: async () => detector.dispose() };
}

// The package is a script that finds TensorFlow.js as a global.
async function load() {
  if (!globalThis.poseDetection) {
    const script = document.createElement("script");
    script.src = "/packages/@tensorflow-models/pose-detection/dist/pose-detection.min.js";
    await new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${script.src} can't be loaded`));
      document.head.append(script);
    });
  }
  return globalThis.poseDetection;
}

async function draw(url) {
  const photo = new Image();
  photo.src = url;
  await photo.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  const height = (photo.width * HEIGHT) / WIDTH; // of the part that is as wide as the photograph
  const context = canvas.getContext("2d");
  context.drawImage(photo, 0, 0, photo.width, height, 0, 0, WIDTH, HEIGHT);
  return canvas;
}

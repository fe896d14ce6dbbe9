// The digits as dots on the canvas, and the picture of the one that a visitor points at: by mouse, by
// touch, or by arrow keys, while the program runs and after it.

import { coloursOf, drawPoints, placedPoints } from "../shared/drawing.js";

const SIDE = 8; // pixels of a digit's picture
const INK = 16; // the maximum level of a pixel
const RADIUS = 3; // of a dot
const REACH = 14; // how far from a dot still points at it
const GAP = 14; // between a dot and its picture

/** The step of each arrow key, to the right and down. */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const canvas = document.getElementById("plane");
const card = document.getElementById("pointed");
const picture = card.querySelector("canvas");
const caption = card.querySelector("figcaption");
const swatches = document.querySelectorAll("#legend i");

let shown = null;
let pointed = null; // the index of a dot

/**
 * Shows digits at their positions.
 * @param {Float32Array} positions x and y of each digit, in turns
 * @param {Uint8Array} labels which digit each is
 * @param {Uint8Array} pixels the pictures, 64 levels each, one after the other
 */
export function show(positions, labels, pixels) {
  if (shown?.labels.length !== labels.length) pointed = null;
  shown = { positions, labels, pixels };
  draw();
}

function draw() {
  if (shown === null) return;
  drawPoints(canvas, shown.positions, shown.labels, coloursOf(swatches), RADIUS);
  card.hidden = pointed === null;
  if (pointed === null) return;
  const dot = dotAt(placedPoints(canvas, shown.positions, RADIUS), pointed);
  const label = shown.labels[pointed];
  ring(dot);
  placeCard(dot);
  caption.textContent = `A ${label}, picture ${pointed + 1} of ${shown.labels.length}`;
}

function ring({ x, y }) {
  const context = canvas.getContext("2d");
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 2 * RADIUS, 0, 2 * Math.PI);
  context.stroke();
}

// Puts the card on the side of the dot where there is room.
function placeCard({ x, y }) {
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = x + GAP + width > canvas.clientWidth ? x - GAP - width : x + GAP;
  const top = Math.min(Math.max(y - height / 2, 0), canvas.clientHeight - height);
  [card.style.left, card.style.top] = [`${Math.max(left, 0)}px`, `${top}px`];
}

function paintPicture() {
  const context = picture.getContext("2d");
  const image = context.createImageData(SIDE, SIDE);
  const size = SIDE * SIDE;
  shown.pixels.subarray(pointed * size, (pointed + 1) * size).forEach((level, index) => {
    image.data.fill(255 - (level / INK) * 235, 4 * index, 4 * index + 3);
    image.data[4 * index + 3] = 255;
  });
  context.putImageData(image, 0, 0);
}

function point(index) {
  if (index === pointed) return;
  pointed = index;
  if (index !== null) paintPicture();
  draw();
}

const dotAt = (placed, index) => ({ x: placed[2 * index], y: placed[2 * index + 1] });

// Returns the index of the dot with the minimum `distance(x, y)`, null where none is below `limit`.
function nearest(distance, limit = Infinity) {
  const placed = placedPoints(canvas, shown.positions, RADIUS);
  let [nearestIndex, minimum] = [null, limit];
  for (let index = 0; index < shown.labels.length; index++) {
    const value = distance(placed[2 * index], placed[2 * index + 1]);
    if (value < minimum) [nearestIndex, minimum] = [index, value];
  }
  return nearestIndex;
}

function pointAt({ offsetX, offsetY }) {
  if (shown === null) return;
  point(nearest((x, y) => Math.hypot(x - offsetX, y - offsetY), REACH));
}

// The nearest dot within 45° of the key's direction; the first key points at the dot in the middle.
function step([right, down]) {
  const { clientWidth, clientHeight } = canvas;
  if (pointed === null) {
    return nearest((x, y) => Math.hypot(x - clientWidth / 2, y - clientHeight / 2));
  }
  const from = dotAt(placedPoints(canvas, shown.positions, RADIUS), pointed);
  const next = nearest((x, y) => {
    const along = (x - from.x) * right + (y - from.y) * down;
    const across = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * right);
    return along > 0 && along >= across ? Math.hypot(along, across) : Infinity;
  });
  return next ?? pointed;
}

function onKey(event) {
  if (shown === null) return;
  const direction = DIRECTIONS[event.key];
  if (direction === undefined && event.key !== "Escape") return;
  event.preventDefault();
  point(direction === undefined ? null : step(direction));
}

canvas.addEventListener("pointermove", pointAt);
canvas.addEventListener("pointerdown", pointAt);
canvas.addEventListener("pointerleave", ({ pointerType }) => {
  if (pointerType === "mouse") point(null);
});
canvas.addEventListener("keydown", onKey);
new ResizeObserver(draw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

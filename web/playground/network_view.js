// The network as it is drawn, and the buttons that change its shape. `#layers` has the number of
// neurons of each hidden layer in `data-neurons`, and its "change" event tells of another shape.

import { blank, fieldPicture } from "../shared/drawing.js";

const MAX_LAYERS = 4;
const MAX_NEURONS = 8;
const NEW_NEURONS = 2; // of a layer that is added
const MAX_SIDE = 34; // pixels of a neuron's picture
const INPUT_SIDE = 8; // values in a row of an input's picture
const WIDEST_LINK = 6; // pixels

const shape = document.getElementById("layers");
const columns = Array.from(shape.querySelectorAll("[data-layer]"));
const neurons = shape.dataset.neurons.split(",").map(Number);

for (const [layer, column] of columns.entries()) {
  column.querySelector(".more").addEventListener("click", () => change(() => neurons[layer]++));
  column.querySelector(".fewer").addEventListener("click", () => change(() => neurons[layer]--));
}
const [addLayer, removeLayer] = ["add-layer", "remove-layer"].map((id) => document.getElementById(id));
addLayer.addEventListener("click", () => change(() => neurons.push(NEW_NEURONS)));
removeLayer.addEventListener("click", () => change(() => neurons.pop()));
showShape();

function change(edit) {
  edit();
  showShape();
  shape.dataset.neurons = neurons.join(",");
  shape.dispatchEvent(new Event("change"));
}

function showShape() {
  for (const [layer, column] of columns.entries()) {
    column.hidden = layer >= neurons.length;
    column.querySelector("span").textContent = neurons[layer] ?? "";
    column.querySelector(".more").disabled = neurons[layer] >= MAX_NEURONS;
    column.querySelector(".fewer").disabled = neurons[layer] <= 1;
  }
  addLayer.disabled = neurons.length >= MAX_LAYERS;
  removeLayer.disabled = neurons.length === 0;
}

/**
 * Draws the inputs, and every neuron as a heat map of its output, with links as wide as weights are large.
 * @param {HTMLCanvasElement} canvas
 * @param {number[]} counts the number of neurons of each layer, hidden ones and the last
 * @param {Float32Array} fields the outputs of all neurons on a grid, one neuron after the other
 * @param {Float32Array} kernels the weights (from, to) of each layer
 * @param {string[]} colours of positive and of negative numbers
 */
export function drawNetwork(canvas, counts, fields, kernels, colours) {
  const { context, width, height } = blank(canvas);
  const layers = [2, ...counts];
  const size = fields.length / counts.reduce((sum, count) => sum + count);
  const side = Math.min(MAX_SIDE, height / Math.max(...layers) - 6);
  const positionOf = (layer, neuron) => ({
    x: (width * (layer + 0.5)) / layers.length,
    y: (height * (neuron + 0.5)) / layers[layer],
  });
  drawLinks(context, layers, kernels, positionOf, colours);
  const pictures = [inputField(0), inputField(1)];
  for (let start = 0; start < fields.length; start += size) {
    pictures.push(fields.subarray(start, start + size));
  }
  const border = getComputedStyle(canvas).color;
  const paper = getComputedStyle(canvas).backgroundColor;
  for (const [layer, count] of layers.entries()) {
    for (let neuron = 0; neuron < count; neuron++) {
      const { x, y } = positionOf(layer, neuron);
      const corner = [x - side / 2, y - side / 2, side, side];
      context.fillStyle = paper;
      context.fillRect(...corner);
      context.drawImage(fieldPicture(pictures.shift(), colours), ...corner);
      context.strokeStyle = border;
      context.lineWidth = 1;
      context.strokeRect(...corner);
    }
  }
}

// Links are curves from the middle of one neuron to the middle of the next.
function drawLinks(context, layers, kernels, positionOf, [positive, negative]) {
  let index = 0;
  for (let layer = 1; layer < layers.length; layer++) {
    for (let from = 0; from < layers[layer - 1]; from++) {
      for (let to = 0; to < layers[layer]; to++) {
        const weight = kernels[index++];
        const [start, end] = [positionOf(layer - 1, from), positionOf(layer, to)];
        const middle = (start.x + end.x) / 2;
        context.strokeStyle = weight < 0 ? negative : positive;
        context.lineWidth = Math.min(0.3 + 2 * Math.abs(weight), WIDEST_LINK);
        context.beginPath();
        context.moveTo(start.x, start.y);
        context.bezierCurveTo(middle, start.y, middle, end.y, end.x, end.y);
        context.stroke();
      }
    }
  }
}

// Returns the picture of an input: the coordinate to the right, or upwards.
function inputField(axis) {
  const share = (index) => (2 * index + 1) / INPUT_SIDE - 1;
  return Float32Array.from({ length: INPUT_SIDE * INPUT_SIDE }, (_, index) =>
    axis === 0 ? share(index % INPUT_SIDE) : -share(Math.floor(index / INPUT_SIDE)),
  );
}

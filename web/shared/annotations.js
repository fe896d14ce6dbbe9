// Draws a picture on a canvas, and on the picture what a model sees in it: one call for many lines,
// points or boxes. Coordinates are pixels of the picture, which is shown as large as the canvas allows.

import { blank } from "./drawing.js";

// Lines and all but the smallest dots have an outline, as the picture below may have any colour.
const OUTLINE = "rgb(0 0 0 / 55%)";
const OUTLINE_WIDTH = 2;
const BOX_WIDTH = 2;
const FONT_SIZE = 13;
const PADDING = 5;

/**
 * Draws a picture, and returns the view of it that the other functions draw on.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasImageSource} image anything with a width and a height
 * @param {boolean} isMirrored whether left and right are exchanged, as in a mirror
 */
export function drawPicture(canvas, image, isMirrored) {
  const { context, width, height } = blank(canvas);
  const scale = Math.min(width / image.width, height / image.height);
  const left = (width - scale * image.width) / 2;
  const top = (height - scale * image.height) / 2;
  const [start, step] = isMirrored ? [width - left, -scale] : [left, scale];
  context.save();
  context.transform(step, 0, 0, scale, start, top);
  context.drawImage(image, 0, 0);
  context.restore();
  return { context, width, height, x: (x) => start + step * x, y: (y) => top + scale * y };
}

/**
 * Draws straight lines.
 * @param {Float32Array} ends x and y of the start and of the end of each line, in turns
 */
export function drawLines({ context, x, y }, ends, colour, width) {
  context.beginPath();
  for (let index = 0; index < ends.length; index += 4) {
    context.moveTo(x(ends[index]), y(ends[index + 1]));
    context.lineTo(x(ends[index + 2]), y(ends[index + 3]));
  }
  context.lineCap = "round";
  strokeOutlined(context, colour, width);
}

/**
 * Draws dots.
 * @param {Float32Array} centers x and y of each dot, in turns
 */
export function drawDots({ context, x, y }, centers, colour, radius) {
  context.beginPath();
  for (let index = 0; index < centers.length; index += 2) {
    const [column, row] = [x(centers[index]), y(centers[index + 1])];
    context.moveTo(column + radius, row);
    context.arc(column, row, radius, 0, 2 * Math.PI);
  }
  if (radius > OUTLINE_WIDTH) {
    context.lineWidth = OUTLINE_WIDTH;
    context.strokeStyle = OUTLINE;
    context.stroke();
  }
  context.fillStyle = colour;
  context.fill();
}

/**
 * Draws boxes, each with a line of text in its upper left corner.
 * @param {Float32Array} corners the minima of x and y of each box, and the maxima, in turns
 * @param {string[]} texts
 */
export function drawBoxes({ context, width, x, y }, corners, texts, colour) {
  context.font = `600 ${FONT_SIZE}px system-ui, sans-serif`;
  context.textBaseline = "top";
  for (const [index, text] of texts.entries()) {
    const [x1, y1, x2, y2] = corners.subarray(4 * index, 4 * index + 4);
    const [left, right] = [x(x1), x(x2)].sort((a, b) => a - b);
    context.beginPath();
    context.rect(left, y(y1), right - left, y(y2) - y(y1));
    strokeOutlined(context, colour, BOX_WIDTH);
    const room = context.measureText(text).width + 2 * PADDING;
    const start = Math.max(0, Math.min(left, width - room));
    const top = Math.max(0, y(y1));
    context.fillStyle = colour;
    context.fillRect(start, top, room, FONT_SIZE + 2 * PADDING);
    context.fillStyle = "black";
    context.fillText(text, start + PADDING, top + PADDING);
  }
}

function strokeOutlined(context, colour, width) {
  context.lineWidth = width + OUTLINE_WIDTH;
  context.strokeStyle = OUTLINE;
  context.stroke();
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

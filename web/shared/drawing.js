// Draws many points on a canvas in one call, which Python would have to make for each of them.

/**
 * Fits a canvas's pixels to the size it is shown at, and clears it.
 * @returns its 2-D context, and its width and height in CSS pixels
 */
export function blank(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const density = globalThis.devicePixelRatio || 1;
  const [columns, rows] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== columns || canvas.height !== rows) {
    [canvas.width, canvas.height] = [columns, rows];
  }
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/**
 * Returns the colours of elements, such as those of a legend, as the page's scheme resolves them.
 * @param {Iterable<Element>} elements
 * @returns {string[]}
 */
export function coloursOf(elements) {
  return Array.from(elements, (element) => getComputedStyle(element).color);
}

/**
 * Draws points as dots, scaled and moved so that they fill the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} positions x and y of each point, in turns
 * @param {Uint8Array} groups the group of each point: its index in `colours`
 * @param {string[]} colours CSS colours
 */
export function drawPoints(canvas, positions, groups, colours, radius = 3) {
  const { context } = blank(canvas);
  fillDots(context, placedPoints(canvas, positions, radius), groups, colours, radius);
}

/**
 * Returns where `drawPoints` draws points: x and y of each, in turns, in CSS pixels of the canvas.
 */
export function placedPoints({ clientWidth, clientHeight }, positions, radius = 3) {
  const columns = extent(positions, 0);
  const rows = extent(positions, 1);
  const room = 2 * (radius + 2);
  const scale = Math.min((clientWidth - room) / columns.size, (clientHeight - room) / rows.size);
  return positions.map((position, index) =>
    index % 2 === 0
      ? clientWidth / 2 + scale * (position - columns.middle)
      : clientHeight / 2 + scale * (position - rows.middle),
  );
}

/**
 * Draws numbers from -1 to 1 on a grid as a heat map that fills the canvas: positive ones in the first
 * colour, negative ones in the second, and the nearer to 0, the paler.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} values row by row from the top, as many in a row as there are rows
 * @param {string[]} colours two or more, as `rgb(…)`
 */
export function drawField(canvas, values, colours) {
  const { context, width, height } = blank(canvas);
  context.drawImage(fieldPicture(values, colours), 0, 0, width, height);
}

/** The width of the outline of dots on a heat map, in the canvas's background. */
const OUTLINE = 0.75;

/** The maximum opacity of a heat map, over which points can still be seen. */
const OPACITY = 150;

const pictures = new Map(); // by their side

/** Returns a heat map (see `drawField`) as a canvas of a pixel for each value, which lasts until the next. */
export function fieldPicture(values, colours) {
  const side = Math.sqrt(values.length);
  if (!pictures.has(side)) {
    const picture = new OffscreenCanvas(side, side);
    pictures.set(side, picture.getContext("2d", { willReadFrequently: true }));
  }
  const context = pictures.get(side);
  const image = context.createImageData(side, side);
  const [positive, negative] = colours.map((colour) => colour.match(/\d+/g).map(Number));
  values.forEach((value, index) => {
    image.data.set(value < 0 ? negative : positive, 4 * index);
    image.data[4 * index + 3] = OPACITY * Math.min(Math.abs(value), 1);
  });
  context.putImageData(image, 0, 0);
  return context.canvas;
}

/**
 * Draws points as dots over what a canvas shows, which is the square from -reach to reach.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} positions x and y of each point, in turns; y grows upwards
 * @param {Uint8Array} groups the group of each point: its index in `colours`
 * @param {string[]} colours CSS colours
 */
export function drawDots(canvas, positions, groups, colours, reach, radius = 3) {
  const context = canvas.getContext("2d");
  const centers = onSquare(canvas, positions, reach);
  const paper = [getComputedStyle(canvas).backgroundColor];
  fillDots(context, centers, new Uint8Array(groups.length), paper, radius + OUTLINE);
  fillDots(context, centers, groups, colours, radius);
}

/**
 * Draws a line from each point of the same square along its vector (x and y of each, in turns).
 * @param {number} longest what becomes of the length of the longest vector
 */
export function drawVectors(canvas, positions, vectors, colour, reach, longest) {
  const factor = longest / Math.max(vectors.reduce((most, part) => Math.max(most, Math.abs(part)), 0), 1e-9);
  const starts = onSquare(canvas, positions, reach);
  const tips = positions.map((position, index) => position + factor * vectors[index]);
  const ends = onSquare(canvas, tips, reach);
  const context = canvas.getContext("2d");
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (let index = 0; index < starts.length; index += 2) {
    context.moveTo(starts[index], starts[index + 1]);
    context.lineTo(ends[index], ends[index + 1]);
  }
  context.stroke();
}

/** Returns where points of the square from -reach to reach are, in CSS pixels of the canvas. */
function onSquare({ clientWidth, clientHeight }, positions, reach) {
  return positions.map((position, index) =>
    index % 2 === 0
      ? (clientWidth / 2) * (1 + position / reach)
      : (clientHeight / 2) * (1 - position / reach),
  );
}

/** Fills dots around centers (x and y in turns), each in the colour of its group. */
function fillDots(context, centers, groups, colours, radius) {
  for (const [group, colour] of colours.entries()) {
    context.fillStyle = colour;
    context.beginPath();
    for (let index = 0; index < groups.length; index++) {
      if (groups[index] !== group) continue;
      const [x, y] = [centers[2 * index], centers[2 * index + 1]];
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.fill();
  }
}

function extent(positions, offset) {
  let [low, high] = [Infinity, -Infinity];
  for (let index = offset; index < positions.length; index += 2) {
    low = Math.min(low, positions[index]);
    high = Math.max(high, positions[index]);
  }
  return { middle: (low + high) / 2, size: Math.max(high - low, 1e-6) };
}

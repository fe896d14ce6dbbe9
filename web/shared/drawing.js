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

/** Fills dots at places (x and y in turns), each in the colour of its group. */
function fillDots(context, places, groups, colours, radius) {
  for (const [group, colour] of colours.entries()) {
    context.fillStyle = colour;
    context.beginPath();
    for (let index = 0; index < groups.length; index++) {
      if (groups[index] !== group) continue;
      const [x, y] = [places[2 * index], places[2 * index + 1]];
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

// Films of carts that balance poles.
import { blank } from "../shared/drawing.js";

const STEPS_PER_SECOND = 50;
const PAUSE_MS = 600; // at the end of a film
const METRES = 5.2; // that a canvas is wide
const POLE = 1; // metres
const [CART_WIDTH, CART_HEIGHT] = [0.5, 0.26]; // metres
const TRACK = 2.4; // metres to each side

const films = new Map(); // of canvases
const still = matchMedia("(prefers-reduced-motion: reduce)");
let running = false;

/**
 * Shows an episode on a canvas, again and again until there is another or `stopFilms` is called. Who
 * prefers reduced motion sees its last moment.
 * @param {HTMLCanvasElement} canvas its CSS has --cart, --pole and --track as registered colours
 * @param {number[][]} states of each step: position, velocity, angle from the vertical, and its change
 */
export function showFilm(canvas, states) {
  const film = films.get(canvas);
  if (film === undefined) {
    films.set(canvas, { states, began: performance.now(), next: null });
  } else {
    film.next = states; // after the one that is shown
  }
  if (!running) {
    running = true;
    requestAnimationFrame(drawFrame);
  }
}

/** Lets films that are shown come to their ends, and shows them no more. */
export function stopFilms() {
  running = false;
}

/** Draws carts that stand in the middle. */
export function clearFilms(canvases) {
  films.clear();
  for (const canvas of canvases) drawCart(canvas, [0, 0, 0, 0]);
}

function drawFrame(now) {
  let moving = false;
  for (const [canvas, film] of films) {
    const { states, began } = film;
    const step = Math.floor(((now - began) * STEPS_PER_SECOND) / 1000);
    const end = states.length - 1;
    const ended = still.matches || now - began > (1000 * end) / STEPS_PER_SECOND + PAUSE_MS;
    drawCart(canvas, states[still.matches ? end : Math.max(0, Math.min(step, end))]);
    if (ended && running) Object.assign(film, { states: film.next ?? states, began: now, next: null });
    moving ||= !ended;
  }
  if (running || moving) requestAnimationFrame(drawFrame);
}

function drawCart(canvas, [position, , angle]) {
  const { context, width, height } = blank(canvas);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`);
  const scale = width / METRES;
  const ground = height - 0.45 * scale;
  context.translate(width / 2, ground);
  context.scale(scale, -scale);
  context.lineCap = "round";

  context.strokeStyle = colour("track");
  context.lineWidth = 0.03;
  line(context, -TRACK, 0, TRACK, 0);
  for (const side of [-1, 1]) line(context, side * TRACK, -0.08, side * TRACK, 0.08);

  const top = 0.08 + CART_HEIGHT;
  context.fillStyle = colour("cart");
  context.beginPath();
  context.roundRect(position - CART_WIDTH / 2, 0.08, CART_WIDTH, CART_HEIGHT, 0.05);
  context.fill();
  for (const side of [-1, 1]) dot(context, position + side * 0.14, 0.08, 0.07);

  context.strokeStyle = colour("pole");
  context.lineWidth = 0.09;
  line(context, position, top, position + POLE * Math.sin(angle), top + POLE * Math.cos(angle));
  context.fillStyle = colour("track");
  dot(context, position, top, 0.05);
}

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

// How fast this browser can multiply and add at best: the loop of a matrix product alone, on a tile
// that stays in registers and panels that stay in the first-level cache. The module is put together
// here, so that no compiler has a say in it.

const ROWS = 6;
const COLUMNS = 8; // two vectors
const DEPTH = 256;
const UNROLLED = 4;
const PANEL_B = 4 * ROWS * DEPTH; // where it begins; A's begins at 0
const RESULT = PANEL_B + 4 * COLUMNS * DEPTH;

const SAMPLES = 40;
const SAMPLE_MS = 5;
const FIRST_TILES = 1000;

let run; // once it is there, the loop over tiles
let tilesPerMs;

/** The most that one thread did in a short while, in GFLOP/s. */
export function measurePeak() {
  return Math.max(...Array.from({ length: SAMPLES }, () => measureRate(SAMPLE_MS)));
}

/** What one thread does in about as many milliseconds, in GFLOP/s. */
export function measureRate(milliseconds) {
  if (!run) {
    run = instantiate();
    tilesPerMs = FIRST_TILES / timed(FIRST_TILES);
  }
  const tiles = Math.ceil(tilesPerMs * milliseconds);
  tilesPerMs = tiles / timed(tiles);
  return (2 * ROWS * COLUMNS * DEPTH * tilesPerMs) / 1e6;
}

/** The milliseconds that tiles take; the clock may stand still for a tenth of one. */
function timed(tiles) {
  const start = performance.now();
  run(tiles);
  return Math.max(performance.now() - start, 0.1);
}

function instantiate() {
  const fused = assemble(multiplyAdd);
  const separate = assemble(multiplyThenAdd);
  const module = new WebAssembly.Module(WebAssembly.validate(fused) ? fused : separate);
  const { exports } = new WebAssembly.Instance(module);
  new Float32Array(exports.memory.buffer).fill(1 / 3);
  return exports.run;
}

// -- the module (WebAssembly's specification, "Binary Format") -------------------------------------

/** An unsigned number in LEB128. */
const number = (value) =>
  value < 128 ? [value] : [(value & 127) | 128, ...number(Math.floor(value / 128))];
/** A signed one that is not negative. */
const signed = (value) =>
  value < 64 ? [value] : [(value & 127) | 128, ...signed(Math.floor(value / 128))];
const list = (items) => [...number(items.length), ...items.flat()];
const sized = (bytes) => [...number(bytes.length), ...bytes];
const section = (id, items) => [id, ...sized(list(items))];
const named = (name) => sized([...new TextEncoder().encode(name)]);

const I32 = 0x7f;
const V128 = 0x7b;
const END = 0x0b;
const get = (local) => [0x20, ...number(local)];
const set = (local) => [0x21, ...number(local)];
const constant = (value) => [0x41, ...signed(value)];
const advance = (local, by) => [...get(local), ...constant(by), 0x6a, ...set(local)];
const load = (at, offset) => [...get(at), 0xfd, 0x00, 2, ...number(offset)];
const loadSplat = (at, offset) => [...get(at), 0xfd, 0x09, 2, ...number(offset)];
const store = (at, offset, local) => [...get(at), ...get(local), 0xfd, 0x0b, 2, ...number(offset)];
/** Repeats the body as often as a local says, which counts down. */
const repeat = (counter, body) => [
  ...[0x03, 0x40, ...body],
  ...[...get(counter), ...constant(1), 0x6b, 0x22, ...number(counter), 0x0d, 0, END],
];

// f32x4.relaxed_madd, which not all browsers have; f32x4.mul and f32x4.add.
const multiplyAdd = (x, y, sum) => [...get(x), ...get(y), ...get(sum), 0xfd, 0x85, 0x02];
const multiplyThenAdd = (x, y, sum) => [
  ...[...get(sum), ...get(x), ...get(y), 0xfd, 0xe6, 0x01],
  ...[0xfd, 0xe4, 0x01],
];

/** A module with the function `run(tiles)`, given how a product is added. */
function assemble(added) {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const types = section(1, [
    [0x60, 0, 0],
    [0x60, 1, I32, 0],
  ]);
  const functions = section(3, [[0], [1]]);
  const memories = section(5, [[0, 1]]);
  const exports = section(7, [
    [...named("run"), 0, 1],
    [...named("memory"), 2, 0],
  ]);
  const call = [0x10, 0];
  const run = sized([0, ...repeat(0, call), END]);
  const code = section(10, [tile(added), run]);
  return new Uint8Array([header, types, functions, memories, exports, code].flat());
}

/** The function that computes one tile. */
function tile(added) {
  const [a, b, steps, x, b0, b1, sums] = [0, 1, 2, 3, 4, 5, 6];
  const count = (ROWS * COLUMNS) / 4;
  const locals = list([
    [3, I32],
    [3 + count, V128],
  ]);
  const add = (sum, vector) => [...added(x, vector, sum), ...set(sum)];
  const step = (k) => [
    ...[...load(b, 4 * COLUMNS * k), ...set(b0)],
    ...[...load(b, 4 * COLUMNS * k + 16), ...set(b1)],
    ...Array.from({ length: ROWS }, (_, row) => [
      ...[...loadSplat(a, 4 * (ROWS * k + row)), ...set(x)],
      ...[...add(sums + 2 * row, b0), ...add(sums + 2 * row + 1, b1)],
    ]).flat(),
  ];
  const body = [
    ...Array.from({ length: UNROLLED }, (_, k) => step(k)).flat(),
    ...[...advance(a, 4 * ROWS * UNROLLED), ...advance(b, 4 * COLUMNS * UNROLLED)],
  ];
  return sized([
    ...locals,
    ...[...constant(PANEL_B), ...set(b), ...constant(DEPTH / UNROLLED), ...set(steps)],
    ...repeat(steps, body),
    ...[...constant(RESULT), ...set(a)],
    ...Array.from({ length: count }, (_, sum) => store(a, 16 * sum, sums + sum)).flat(),
    END,
  ]);
}

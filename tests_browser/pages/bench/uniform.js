// Numbers for the benchmarks' inputs, the same for both libraries.

/** `count` numbers of an interval, the same ones for the same seed (mulberry32). */
export function uniform(seed, count, low, high) {
  const values = new Float32Array(count);
  let state = (seed + 1) * 0x9e3779b9;
  for (let index = 0; index < count; index++) {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    values[index] = low + ((high - low) * ((bits ^ (bits >>> 14)) >>> 0)) / 2 ** 32;
  }
  return values;
}

/** The values of each input; an input's position is its seed. */
export const valuesOf = (inputs) =>
  inputs.map(({ shape, low, high, dtype }, seed) => {
    const count = shape.reduce((size, length) => size * length, 1);
    return numbers(seed, count, low, high, dtype);
  });

/** Numbers of an interval in an array for a dtype; those that are no floats are rounded down. */
export function numbers(seed, count, low, high, dtype) {
  const values = uniform(seed, count, low, high);
  if (dtype === "float32") return values;
  const whole = Int32Array.from(values, Math.floor);
  return dtype === "bool" ? Uint8Array.from(whole) : whole;
}

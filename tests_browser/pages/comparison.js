// What pages need to compare models of two libraries: inputs, differences and times.

// Numbers that are the same in every run.
function* uniform(seed) {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 4294967296;
  }
}

export const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

export const noise = (shape, dtype, seed) => {
  const numbers = uniform(seed);
  const next = () => numbers.next().value;
  return dtype === "int32"
    ? Int32Array.from({ length: sizeOf(shape) }, () => Math.floor(next() * 256))
    : Float32Array.from({ length: sizeOf(shape) }, next);
};

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

// The largest difference of two lists of outputs, in parts of the largest magnitude of each.
export const difference = (ours, theirs) =>
  Math.max(
    ...theirs.map((expected, index) => {
      const result = ours[index];
      if (String(result.shape) !== String(expected.shape)) return Infinity;
      let apart = 0;
      let largest = 0;
      expected.data.forEach((value, at) => {
        apart = Math.max(apart, Math.abs(value - result.data[at]));
        largest = Math.max(largest, Math.abs(value));
      });
      return apart === 0 ? 0 : apart / largest;
    }),
  );

export const timed = async (function_) => {
  const began = performance.now();
  const value = await function_();
  return [value, performance.now() - began];
};

// Numbers in Python's memory that are stored in fewer bytes: see `quantization.py`. A loop of Python
// takes 85 ns a number, this one 1 ns. Addresses are those of whole arrays, so they are aligned.
export default function quantization(module) {
  const TYPES = { float32: Float32Array, int32: Int32Array };
  const INTEGERS = { 1: Uint8Array, 2: Uint16Array };

  const view = (Type, address, count) => new Type(module.HEAPU8.buffer, address, count);

  // All numbers of half precision, by their bits.
  let halves;
  const tableOfHalves = () => {
    const table = new Float32Array(1 << 16);
    const bits = new Uint32Array(table.buffer);
    for (let half = 0; half < 1 << 16; half++) {
      const sign = (half & 0x8000) << 16;
      const exponent = (half >> 10) & 31;
      const fraction = half & 1023;
      if (exponent === 0) {
        table[half] = (sign ? -1 : 1) * fraction * 2 ** -24;
      } else {
        bits[half] = sign | ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13);
      }
    }
    return table;
  };

  const roundToEven = (number) => {
    const rounded = Math.round(number);
    return rounded - number === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
  };

  // The bits in half precision of a number that is given by its bits in single precision.
  const halfOf = (number, bits) => {
    const sign = (bits >>> 16) & 0x8000;
    const magnitude = bits & 0x7fffffff;
    if (magnitude < 0x38800000) {
      return sign | roundToEven(Math.abs(number) * 2 ** 24);
    }
    return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  };

  const widen = (source, count, target) => {
    halves ??= tableOfHalves();
    const bits = view(Uint16Array, source, count);
    const numbers = view(Float32Array, target, count);
    for (let index = 0; index < count; index++) {
      numbers[index] = halves[bits[index]];
    }
  };

  const narrow = (source, count, target) => {
    const numbers = view(Float32Array, source, count);
    const bits = view(Uint32Array, source, count);
    const result = view(Uint16Array, target, count);
    for (let index = 0; index < count; index++) {
      result[index] = halfOf(numbers[index], bits[index]);
    }
  };

  const dequantize = (source, count, target, itemSize, dtype, scale, minimum) => {
    const steps = view(INTEGERS[itemSize], source, count);
    const numbers = view(TYPES[dtype], target, count);
    if (dtype === "int32") {
      for (let index = 0; index < count; index++) {
        numbers[index] = Math.floor(steps[index] * scale + minimum + 0.5);
      }
      return;
    }
    for (let index = 0; index < count; index++) {
      numbers[index] = steps[index] * scale + minimum;
    }
  };

  const quantize = (source, count, target, itemSize, dtype, scale, minimum) => {
    const numbers = view(TYPES[dtype], source, count);
    const steps = view(INTEGERS[itemSize], target, count);
    const last = 256 ** itemSize - 1;
    for (let index = 0; index < count; index++) {
      const step = roundToEven((numbers[index] - minimum) / scale);
      steps[index] = Math.min(Math.max(step, 0), last);
    }
  };

  const extremes = (source, count, dtype) => {
    const numbers = view(TYPES[dtype], source, count);
    let minimum = numbers[0];
    let maximum = numbers[0];
    for (let index = 1; index < count; index++) {
      minimum = Math.min(minimum, numbers[index]);
      maximum = Math.max(maximum, numbers[index]);
    }
    return [minimum, maximum];
  };

  return { widen, narrow, dequantize, quantize, extremes };
}

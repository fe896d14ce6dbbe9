// Runs op cases with TensorFlow.js: the counterpart of tests_py/cases/runner.py.

const ARRAYS = {
  float32: Float32Array, int32: Int32Array, bool: Uint8Array, complex64: Float32Array,
};

const bytesOf = (letters) => Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));

function lettersOf(bytes) {
  let letters = "";
  for (let start = 0; start < bytes.length; start += 8192)
    letters += String.fromCharCode(...bytes.subarray(start, start + 8192));
  return btoa(letters);
}

function decode({ dtype, shape, elements }) {
  if (dtype === "string") return tf.tensor(elements.map(bytesOf), shape, "string");
  const bytes = bytesOf(elements);
  if (dtype === "complex64") {
    const pairs = new Float32Array(bytes.buffer);
    const part = (first) => tf.tensor(pairs.filter((_, n) => n % 2 === first), shape);
    return tf.complex(part(0), part(1));
  }
  return tf.tensor(new ARRAYS[dtype](bytes.buffer), shape, dtype);
}

async function encode(result) {
  if (Array.isArray(result)) return Promise.all(result.flat(Infinity).map(encode));
  const { dtype, shape } = result;
  if (dtype === "string") return { dtype, shape, elements: (await result.bytes()).map(lettersOf) };
  // A cast from bool keeps bytes, whatever the dtype says.
  const bytes = new Uint8Array(ARRAYS[dtype].from(await result.data()).buffer);
  return { dtype, shape, elements: lettersOf(bytes) };
}

function argument(template, tensors) {
  if (Array.isArray(template)) return template.map((part) => argument(part, tensors));
  if (template === null || typeof template !== "object") return template;
  if ("tensor" in template) return tensors[template.tensor];
  if ("number" in template) return Number(template.number);
  if ("tuple" in template) return template.tuple.map((part) => argument(part, tensors));
  throw new Error(`no counterpart of ${JSON.stringify(template)}`);
}

function evaluate(one) {
  const apply = eval(one.javascript);
  const tensors = one.tensors.map(decode);
  const call = (given) => apply(...one.args.map((template) => argument(template, given)));
  if (one.derivative === 0) return call(tensors);
  const sources = one.wrt.map((place) => tensors[place]);
  const ofSources = (...xs) => {
    const given = [...tensors];
    one.wrt.forEach((place, index) => (given[place] = xs[index]));
    return call(given);
  };
  return tf.grads(ofSources)(sources, decode(one.dy));
}

// Cases as JSON, each with `javascript`, the source of the function to call; results as JSON.
window.runWithTensorflow = async (json) => {
  await tf.setBackend("cpu");
  const results = [];
  for (const one of JSON.parse(json)) {
    try {
      results.push(await encode(await evaluate(one)));
    } catch (error) {
      results.push({ error: String(error) });
    }
  }
  return JSON.stringify(results);
};

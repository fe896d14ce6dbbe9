// Data sets of TensorFlow.js, as workloads/data.py has ours. Each function returns a step, which reads
// a whole data set and returns a sum of what it has read.

/** Reads a table of numbers from the text of a file. */
export function readTable(tf, numbers, columns) {
  const blob = new Blob([tableOf(numbers, columns)]);
  const last = `c${columns - 1}`;
  return async () => {
    let sum = 0;
    const rows = new tf.data.CSVDataset(new tf.data.FileDataSource(blob));
    await rows.forEachAsync((row) => {
      sum += row.c0 + row[last];
    });
    return tf.scalar(sum);
  };
}

/** Doubles numbers, leaves out some of them, and adds up the rest. */
export function pipeline(tf, numbers) {
  const elements = tf.data
    .array(Array.from(numbers))
    .map((number) => 2 * number)
    .filter((number) => number > 0);
  return async () => {
    let sum = 0;
    await elements.forEachAsync((number) => {
      sum += number;
    });
    return tf.scalar(sum);
  };
}

function tableOf(numbers, columns) {
  const lines = [Array.from({ length: columns }, (_, index) => `c${index}`).join(",")];
  for (let start = 0; start < numbers.length; start += columns) {
    lines.push(Array.from(numbers.subarray(start, start + columns), digits).join(","));
  }
  return lines.join("\n");
}

const digits = (number) => number.toFixed(4);

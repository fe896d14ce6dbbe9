// A worker's whole life: it sleeps until there is work on the shared memory. See `threads.js`.
const SPINNING_MS = 0.2;

onmessage = ({ data: { module, memory, control, kernelArguments, code, names, stack, CONTROL } }) => {
  const { KERNEL, COUNT, PARTS, NEXT, OPEN, INSIDE, ROUND, FAILED, CODE_BYTES, ASLEEP } = CONTROL;
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.__stack_pointer.value = stack;
  const table = exports.__indirect_function_table;
  let round = 0;
  let offset = 0; // of the next module in the code
  Atomics.sub(control, ASLEEP, 1);

  function addFunctions() {
    while (offset < Atomics.load(control, CODE_BYTES)) {
      const [size] = new Int32Array(code, offset, 1);
      const bytes = new Uint8Array(code, offset + 4, size).slice();
      const imports = { env: { memory, huge_angle: exports.huge_angle } };
      const { exports: functions } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
      for (const name in functions) table.set(table.grow(1), functions[name]);
      offset += 4 + ((size + 3) & ~3);
    }
  }

  function sleep() {
    Atomics.add(control, ASLEEP, 1);
    Atomics.wait(control, ROUND, round);
    Atomics.sub(control, ASLEEP, 1);
  }

  for (;;) {
    const deadline = performance.now() + SPINNING_MS;
    let current;
    while ((current = Atomics.load(control, ROUND)) === round)
      if (performance.now() > deadline) sleep();
    round = current;
    Atomics.add(control, INSIDE, 1);
    if (Atomics.load(control, OPEN)) {
      const kernel = exports[names[control[KERNEL]]];
      const count = control[COUNT];
      const parts = control[PARTS];
      const ownArguments = kernelArguments.slice(0, count + 2);
      try {
        addFunctions();
        for (let part; (part = Atomics.add(control, NEXT, 1)) < parts; ) {
          ownArguments[count] = part;
          kernel.apply(null, ownArguments);
        }
      } catch {
        Atomics.store(control, FAILED, 1);
      }
    }
    Atomics.sub(control, INSIDE, 1);
  }
};

// A worker's whole life: it sleeps until there is work on the shared memory. See `threads.js`.
const SPINNING_MS = 0.2;

onmessage = ({ data: { module, memory, control, given, names, stack, CONTROL } }) => {
  const { KERNEL, COUNT, PARTS, NEXT, OPEN, INSIDE, ROUND, FAILED } = CONTROL;
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.__stack_pointer.value = stack;
  let round = 0;
  for (;;) {
    const deadline = performance.now() + SPINNING_MS;
    let current;
    while ((current = Atomics.load(control, ROUND)) === round)
      if (performance.now() > deadline) Atomics.wait(control, ROUND, round);
    round = current;
    Atomics.add(control, INSIDE, 1);
    if (Atomics.load(control, OPEN)) {
      const kernel = exports[names[control[KERNEL]]];
      const values = given.slice(0, control[COUNT]);
      const parts = control[PARTS];
      try {
        for (let part; (part = Atomics.add(control, NEXT, 1)) < parts; )
          kernel(...values, part, parts);
      } catch {
        Atomics.store(control, FAILED, 1);
      }
    }
    Atomics.sub(control, INSIDE, 1);
  }
};

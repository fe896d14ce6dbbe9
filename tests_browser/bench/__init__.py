"""How fast webtensor is beside TensorFlow.js: `make bench`, or `python -m tests_browser.bench`.

One page in headless Chromium holds both libraries. A workload is a row of `workloads` (`workload`
says what a row can say): one function for ours, one JavaScript expression for theirs, fed with the
same numbers. `page` runs the workloads inside that page (`tests_browser/pages/bench/`); `sides` has
the sides that run in Python, and `peer.js` beside the page those in JavaScript. The site's page
`bench/` runs the rows with TensorFlow.js on a visitor's device: `web/bench/export_data.py` takes
what it needs from here, and the page of `make bench` takes it from the site. `first_prediction`
loads pages of its own; `pages` opens all others, and `runner` drives them from outside; `report`
writes `bench/results.json` and the table that people read.

Whole networks (`model.…`) are also compared with onnxruntime-web. `models` has them, as lists of
layers that `network` explains; all sides build theirs from the same list and the same numbers. The
distinct convolutions of two of them are rows, too (`layer.…`). A few rows have NumPy as a peer, in
the same Pyodide: it is loaded from a wheel that `pyodide_numpy` finds, and where it can't be had
these rows fail and say why.

What a number means:

- **A sample** is a batch of calls and one wait, divided by the number of calls. Each side times its
  own batch with the page's clock, ours in Python, theirs in JavaScript, so that all of Python's
  overhead is in our number and none of it in theirs. The wait reads one element of the last result
  with `await t.data()`, on both sides; as a context runs its commands in order, it waits for all.
- **Results are freed as they would be by a user**: ours by their reference count, theirs by
  `dispose`, each as the next one arrives (which is as quick as a `tidy` around the batch).
- **Rounds alternate**: ours, theirs, ours, theirs, in the same page, so that a slow spell of the
  machine hits both. A ratio is taken within each round, and its median is reported.
- **Batches** are made long enough to time (`Effort.sample_ms`) after warming up, which compiles
  shaders and lets the browser optimize WebAssembly; the number of rounds shrinks for slow
  workloads, to `Effort.budget_s` in all but to no fewer than `Effort.min_rounds`.
- **Results agree**, or the row says so: the largest difference between the two results of the first
  call (of the fifth training step), divided by the largest magnitude in theirs, must not exceed the
  workload's tolerance.
- *Of peak* says how near our WebAssembly comes to what this browser can do: the multiplications and
  additions that a product, convolution or network needs, each counted as one operation, per second
  and thread, divided by what `peak.js` reaches after both sides, on one thread, with a tile of a
  product whose operands never leave the first-level cache. It is taken within each round, as ratios
  are. A way to compute the result that needs fewer multiplications could pass 100 %.
- *Threads* are as many on both sides: one, unless the row says two. Rows on two run in a page of
  their own, as onnxruntime-web starts its threads once. TensorFlow.js would take half as many as
  there are processors; the page tells it of more. Before each sample there is a pause, in which
  the other side's threads go to sleep. The peer `one thread` is ours again.
- *Overhead* rows time the calls until all their commands are handed to the browser, and wait
  outside the timing. TensorFlow.js would compute such tiny tensors on the CPU while they have not
  been on the GPU; the page switches that off, since tensors amid a network have.
- *Captured* rows are ours twice: the peer `uncaptured` is the function that `wt.function` replays.
  Steps of training stand beside those that jax-js compiles by `jit`, too, in a page without shared
  memory, where it computes on one thread.
- *Model* rows predict for one image, with each library's fused ops; who needs a result no longer
  frees it. onnxruntime-web gets an ONNX file, which `onnx_models` writes when the page asks for it,
  all optimizations of its graph, and the image in its own layout; it copies that into its memory
  with every call.
- *Pose* rows find a person in frames of a webcam, from a canvas to keypoints, with the weights that
  the site's page of poses has: our `wt.vision.MoveNet` stands beside npm's
  `@tensorflow-models/pose-detection`. Both follow the person and smooth the keypoints.
- *First prediction* rows load a fresh page in a fresh context (nothing cached) per sample, and run
  from the start of navigation to the numbers of a convolutional network's first prediction. The
  files come from a server on the same machine. Those of a *repeat visit* load the page again in the
  same context, when the service worker has kept our files.
- A backend without a kernel is compared through the one a user would turn to: TensorFlow.js cannot
  train convolutions on `wasm`, so its `cpu` stands in. Where that takes seconds for a call, there
  are no more calls than it takes to compare and to time the fewest rounds.
"""

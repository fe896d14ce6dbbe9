// The WebGL device behind Python's integers: textures, programs, queued draws, reads.
//
// Calling WebGL from Python costs 2 to 4 µs per call, a draw about 50 µs. Python therefore packs a
// draw into a few integers in its own memory and this file executes the whole queue in one crossing
// (about 12 µs per draw in all). Textures, programs and pending reads are integers in Python too:
// no object crosses, so no proxy can leak. State that is already set is not set again.
//
// The link status of a program is queried before its first draw, not when it is made: the query blocks,
// and until then the browser compiles other programs in parallel.
//
// Takes the context, Pyodide's Emscripten module, the vertex shader's source, and whether reads have to
// wait for the draws before them.
export default function device(gl, module, vertexSource, readsWait) {
  const floats = { format: gl.RGBA, type: gl.FLOAT, array: Float32Array };
  const ints = { format: gl.RGBA_INTEGER, type: gl.INT, array: Int32Array };
  const bools = { format: gl.RGBA_INTEGER, type: gl.UNSIGNED_BYTE, array: Uint8Array };
  // Unsigned bytes can be read back portably only as unsigned integers.
  floats.read = { type: gl.FLOAT, array: Float32Array };
  ints.read = { type: gl.INT, array: Int32Array };
  bools.read = { type: gl.UNSIGNED_INT, array: Uint32Array };
  const FORMATS = [
    { internal: gl.RGBA32F, ...floats },
    { internal: gl.RGBA32I, ...ints },
    { internal: gl.RGBA8UI, ...bools },
    { internal: gl.RGBA8 }, // pixels, which are written from images alone
    { internal: gl.RGBA16F, ...floats },
    // In WebGL 1, see `webgl1.js`.
    { internal: gl.RGBA32F, ...ints },
    { internal: gl.RGBA16F, ...ints },
    { internal: gl.RGBA8, ...bools },
  ];
  const BYTES_PER_TEXEL_READ = 16;
  // Of greater numbers, some devices make infinities, others NaN.
  const inHalfRange = (x) => Math.max(-65504, Math.min(x, 65504));

  const textures = [];
  const freeIds = [];
  const COPY = 0; // stands where a draw has its program
  const programs = [null];
  const unqueried = new Set(); // programs whose link status was not queried yet
  const reads = new Map();
  let nextRead = 0;
  let flushed = 0; // how often draws were executed
  let finished = 0; // up to which of them the GPU is known to be done
  let lastPassed = Promise.resolve();
  let settled = Promise.resolve();
  const timings = new Set();
  let timing = null;
  let closed = false;

  const parallel = gl.getExtension("KHR_parallel_shader_compile");
  const timer = gl.getExtension("EXT_disjoint_timer_query_webgl2");
  const vertex = shaderOf(gl.VERTEX_SHADER, vertexSource);
  const { port1: turnReceiver, port2: turnSender } = new MessageChannel();
  const waitingForTurn = [];
  turnReceiver.onmessage = () => waitingForTurn.shift()?.();

  let currentProgram = null;
  let currentTarget = null;
  let canvasId = -1;
  const groups = new Set(); // framebuffers with several targets, and the textures attached to them
  let activeUnit = -1;
  const boundTextures = [];

  const vertices = gl.createVertexArray();
  gl.bindVertexArray(vertices);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.disable(gl.DITHER);

  function bind(unit, texture) {
    if (boundTextures[unit] === texture) return;
    if (activeUnit !== unit) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      activeUnit = unit;
    }
    gl.bindTexture(gl.TEXTURE_2D, texture);
    boundTextures[unit] = texture;
  }

  // Make a texture the one that texture calls act on: bound to the unit that is active.
  function select(texture) {
    if (activeUnit !== 0) {
      gl.activeTexture(gl.TEXTURE0);
      activeUnit = 0;
    }
    bind(0, texture);
  }

  // Whether the device ran out of memory since the last call.
  function isOutOfMemory() {
    let isOut = false;
    for (let error = gl.getError(); error !== gl.NO_ERROR; error = gl.getError()) {
      if (error === gl.CONTEXT_LOST_WEBGL) break;
      isOut ||= error === gl.OUT_OF_MEMORY;
    }
    return isOut;
  }

  // Number a texture or the canvas; its framebuffer is made when it is first drawn on.
  function register(entry) {
    const id = freeIds.length ? freeIds.pop() : textures.length;
    textures[id] = entry;
    return id;
  }

  function target(entry) {
    if (currentTarget === entry) return;
    if (entry.framebuffer === undefined) {
      entry.framebuffer = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, entry.framebuffer);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, entry.texture, 0);
    } else {
      gl.bindFramebuffer(gl.FRAMEBUFFER, entry.framebuffer);
    }
    gl.viewport(0, 0, entry.width, entry.height);
    currentTarget = entry;
  }

  // Render to several textures of one size at once; their numbers are at an offset of the queue.
  // Attaching textures is slow, so the first texture keeps the framebuffer.
  function targets(ints, at, count) {
    const first = textures[ints[at]];
    if (first.group?.attached.length !== count) {
      if (first.group !== undefined) deleteGroup(first.group);
      first.group = newGroup(first, count);
    }
    const { framebuffer, attached } = first.group;
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    for (let index = 0; index < count; index++) {
      const entry = textures[ints[at + index]];
      if (attached[index] === entry) continue;
      attached[index] = entry;
      gl.framebufferTexture2D(
        gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + index, gl.TEXTURE_2D, entry.texture, 0);
    }
    gl.viewport(0, 0, first.width, first.height);
    currentTarget = null;
  }

  function newGroup(first, count) {
    const framebuffer = gl.createFramebuffer();
    const attached = new Array(count).fill(null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.drawBuffers(attached.map((_, index) => gl.COLOR_ATTACHMENT0 + index));
    const group = { first, framebuffer, attached };
    groups.add(group);
    return group;
  }

  function deleteGroup(group) {
    gl.deleteFramebuffer(group.framebuffer);
    group.first.group = undefined;
    groups.delete(group);
  }

  // Copy the texels of textures one after the other into one that is as wide, from their numbers at a
  // place of the queue. What lies behind the texels of one is overwritten by those of the next.
  function copyParts(ints, at, count, target, texels) {
    targets(ints, at, count);
    select(target.texture);
    const { width, height } = target;
    for (let index = 0; index < count; index++) {
      const start = index * texels;
      const row = Math.floor(start / width);
      const shift = start % width; // each row of a part begins here, and ends in the row after it
      const rows = Math.ceil(texels / width);
      gl.readBuffer(gl.COLOR_ATTACHMENT0 + index);
      copyTexels(shift, row, 0, width - shift, Math.min(rows, height - row));
      copyTexels(0, row + 1, width - shift, shift, Math.min(rows, height - row - 1));
    }
  }

  function copyTexels(toColumn, toRow, column, width, height) {
    if (width > 0 && height > 0) {
      gl.copyTexSubImage2D(gl.TEXTURE_2D, 0, toColumn, toRow, column, 0, width, height);
    }
  }

  // Set the uniforms of a program that depend on the target's size.
  function describeTarget(entry, { width, height }) {
    if (entry.width === width && entry.height === height) return;
    entry.width = width;
    entry.height = height;
    gl.uniform2f(entry.size, width, height);
    gl.uniform1i(entry.rowWidth, width);
  }

  // Tell a program how an index, of an element or of a texel, becomes coordinates of a texture.
  function describeSource(sampler, { width, height }) {
    if (sampler.width === width && sampler.height === height) return;
    sampler.width = width;
    sampler.height = height;
    const row = (width * 4) / sampler.lanes; // of indices
    gl.uniform1i(sampler.mask, row - 1);
    gl.uniform4f(sampler.place, 1 / row, 1 / (row * height), 0.5 / row, 0.5 / height);
  }

  function shaderOf(kind, source) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  }

  // Query whether a program was linked, which waits for it, and find its uniforms.
  function queryLinkStatus(entry) {
    const { program, fragment } = entry;
    unqueried.delete(entry);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      entry.failure = gl.getShaderParameter(fragment, gl.COMPILE_STATUS)
        ? `linking the program\n${gl.getProgramInfoLog(program)}`
        : `compiling the shader\n${gl.getShaderInfoLog(fragment)}`;
      gl.deleteProgram(program);
    } else {
      locate(entry);
    }
    gl.deleteShader(fragment);
    entry.fragment = null;
  }

  function locate(entry) {
    const { program } = entry;
    const current = gl.getParameter(gl.CURRENT_PROGRAM);
    gl.useProgram(program);
    entry.samplers.forEach((sampler, unit) => {
      gl.uniform1i(gl.getUniformLocation(program, sampler.name), unit);
      sampler.mask = gl.getUniformLocation(program, `${sampler.name}Mask`);
      sampler.place = gl.getUniformLocation(program, `${sampler.name}Place`);
    });
    for (const uniform of entry.uniforms) {
      uniform.location = gl.getUniformLocation(program, uniform.name);
    }
    entry.size = gl.getUniformLocation(program, "hereSize");
    entry.rowWidth = gl.getUniformLocation(program, "hereWidth");
    gl.useProgram(current);
  }

  // A promise of the first answer that is not null. Asking ever more seldom leaves the processor to a
  // GPU that is emulated on it, and adds a tenth to the wait, or 1 ms. Timers that are set by timers
  // take no less than 4 ms, so each is set by a message.
  function poll(question) {
    const started = performance.now();
    return new Promise((resolve) => {
      const look = () => {
        const answer = question();
        if (answer !== null) return resolve(answer);
        const pause = Math.max(1, Math.min((performance.now() - started) / 10, 16));
        turn().then(() => setTimeout(look, pause));
      };
      look();
    });
  }

  // Give the event loop its turn.
  function turn() {
    if (closed) return Promise.resolve();
    return new Promise((resolve) => {
      waitingForTurn.push(resolve);
      turnSender.postMessage(null);
    });
  }

  // Wait for all programs, without blocking the event loop for longer than one takes. A program that
  // a draw needs in the meantime is not queried again.
  async function settleAll() {
    for (const entry of unqueried) {
      const done = () => closed || !unqueried.has(entry);
      if (parallel !== null) {
        await poll(() =>
          done() || gl.getProgramParameter(entry.program, parallel.COMPLETION_STATUS_KHR) || null);
      }
      if (!done()) queryLinkStatus(entry);
      await turn();
    }
  }

  // Those who wait get their turn in the order in which they came.
  function settle() {
    settled = settled.then(settleAll);
    return settled;
  }

  // Measurements during which the GPU was interrupted are invalid. The query resets the state, so all
  // measurements that run note it.
  function noteInterruptions() {
    if (gl.getParameter(timer.GPU_DISJOINT_EXT)) {
      for (const measurement of timings) measurement.interrupted = true;
    }
  }

  function finishRead(ticket) {
    const read = reads.get(ticket);
    reads.delete(ticket);
    gl.deleteSync(read.fence);
    gl.deleteBuffer(read.buffer);
  }

  return {
    // Make a texture; kind is its index in FORMATS. Returns its number, or -1 if `checksMemory` and the
    // device had no memory for it.
    createTexture(width, height, kind, checksMemory) {
      const texture = gl.createTexture();
      select(texture);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      gl.texStorage2D(gl.TEXTURE_2D, 1, FORMATS[kind].internal, width, height);
      if (checksMemory && isOutOfMemory()) {
        boundTextures[0] = null;
        gl.deleteTexture(texture);
        return -1;
      }
      return register({ texture, framebuffer: undefined, group: undefined, width, height, kind });
    },

    // For the page to draw with.
    textureOf(id) {
      return textures[id].texture;
    },

    deleteTexture(id) {
      const entry = textures[id];
      textures[id] = null;
      freeIds.push(id);
      const unit = boundTextures.indexOf(entry.texture);
      if (unit >= 0) boundTextures[unit] = null;
      if (currentTarget === entry) currentTarget = null;
      if (entry.framebuffer !== undefined) gl.deleteFramebuffer(entry.framebuffer);
      for (const group of groups) if (group.attached.includes(entry)) deleteGroup(group);
      gl.deleteTexture(entry.texture);
    },

    // Copy `count` elements at an address of Python's memory into a texture: whole rows, then the rest
    // of the last one. False where there is no context any more.
    upload(id, address, count) {
      const { texture, width, kind } = textures[id];
      const { internal, format, type, array } = FORMATS[kind];
      const source = new array(module.HEAPU8.buffer, address, count);
      const elements = internal === gl.RGBA16F ? source.map(inHalfRange) : source;
      const row = width * 4;
      const rows = Math.floor(count / row);
      const rest = count - rows * row;
      select(texture);
      if (rows > 0) {
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, rows, format, type, elements.subarray(0, rows * row));
      }
      if (rest > 0) {
        const texels = Math.ceil(rest / 4);
        const padded = new array(texels * 4);
        padded.set(elements.subarray(rows * row));
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, rows, texels, 1, format, type, padded);
      }
      return !gl.isContextLost();
    },

    // Copy what a canvas shows, or an array of four bytes a pixel, into a texture for pixels. False
    // where there is no context any more.
    uploadPixels(id, source) {
      const { texture, width, height } = textures[id];
      select(texture);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, source);
      return !gl.isContextLost();
    },

    // Give the context's own canvas a size; its number as a target of draws, -1 where the browser
    // refuses to make it that large.
    resizeCanvas(width, height) {
      const { canvas } = gl;
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      if (gl.drawingBufferWidth !== width || gl.drawingBufferHeight !== height) return -1;
      if (canvasId < 0) canvasId = register({ texture: null, framebuffer: null });
      Object.assign(textures[canvasId], { width, height });
      currentTarget = null;
      return canvasId;
    },

    // Begin to compile and link a program; names are comma-separated. A sampler's name comes with the
    // number of elements that are read at a time, a uniform's with the first letter of its type.
    // Returns the program's number, -1 where there is no context any more.
    compile(source, targetCount, samplerNames, uniformNames) {
      const split = (names) =>
        String(names).split(",").filter(Boolean).map((name) => name.split(":"));
      if (gl.isContextLost()) return -1;
      const program = gl.createProgram();
      const fragment = shaderOf(gl.FRAGMENT_SHADER, source);
      gl.attachShader(program, vertex);
      gl.attachShader(program, fragment);
      gl.linkProgram(program);
      const samplers = split(samplerNames).map(([name, lanes]) => (
        { name, lanes: Number(lanes), mask: null, place: null, width: 0, height: 0 }));
      const uniforms = split(uniformNames).map(([name, type]) => (
        { name, isFloat: type === "f", location: null, value: null }));
      const entry = {
        program, fragment, failure: "", targetCount, samplers, uniforms,
        words: targetCount + samplers.length + uniforms.length,
        size: null, rowWidth: null, width: 0, height: 0,
      };
      unqueried.add(entry);
      programs.push(entry);
      return programs.length - 1;
    },

    // What went wrong with a program, and the log in the lines after it; nothing where it was linked.
    failure(id) {
      const entry = programs[id];
      if (unqueried.has(entry)) queryLinkStatus(entry);
      return entry.failure;
    },

    // A promise that all programs are ready, or have failed.
    settle,

    // Call a Python function when all programs are ready.
    whenSettled(callback) {
      settle().then(() => closed || callback());
    },

    // Execute the draws packed at an address of Python's memory, up to a negative program number:
    // program, target textures, one texture per sampler, one word per uniform; and copies: COPY, the
    // target, the number of parts, the texels of each, the parts.
    flush(address) {
      const ints = module.HEAP32;
      const floats = module.HEAPF32;
      const start = address / 4; // addresses come from Python, so they are positive
      let at = start;
      flushed++;
      while (ints[at] >= 0) {
        if (ints[at] === COPY) {
          const [, target, count, texels] = ints.subarray(at, at + 4);
          copyParts(ints, at + 4, count, textures[target], texels);
          at += 4 + count;
          continue;
        }
        const entry = programs[ints[at++]];
        if (unqueried.size > 0 && unqueried.has(entry)) queryLinkStatus(entry);
        if (entry.failure !== "") {
          at += entry.words;
          continue;
        }
        if (currentProgram !== entry) {
          gl.useProgram(entry.program);
          currentProgram = entry;
        }
        const first = textures[ints[at]];
        if (entry.targetCount === 1) target(first);
        else targets(ints, at, entry.targetCount);
        describeTarget(entry, first);
        at += entry.targetCount;
        const { samplers } = entry;
        for (let unit = 0; unit < samplers.length; unit++) {
          const source = textures[ints[at++]];
          bind(unit, source.texture);
          describeSource(samplers[unit], source);
        }
        for (const uniform of entry.uniforms) {
          const value = uniform.isFloat ? floats[at] : ints[at];
          at++;
          if (uniform.value === value) continue;
          uniform.value = value;
          if (uniform.isFloat) gl.uniform1f(uniform.location, value);
          else gl.uniform1i(uniform.location, value);
        }
        gl.drawArrays(gl.TRIANGLES, 0, 3);
      }
      ints[start] = -1;
    },

    // Read the first rows of a texture to an address of Python's memory, waiting for the GPU.
    read(id, rows, address) {
      const entry = textures[id];
      target(entry);
      if (readsWait) gl.finish();
      const { format, read } = FORMATS[entry.kind];
      const pixels = new read.array(module.HEAPU8.buffer, address, entry.width * rows * 4);
      gl.readPixels(0, 0, entry.width, rows, format, read.type, pixels);
    },

    // Whether all draws are known to be done, and nobody waits for a read: another one has nothing to
    // wait for.
    isIdle() {
      return finished === flushed && reads.size === 0;
    },

    // Put a fence behind all draws; its ticket is that of an empty read.
    mark() {
      const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      reads.set(nextRead, { buffer: null, fence, behind: flushed });
      return nextRead++;
    },

    // Start reading a texture into a pixel-pack buffer behind a fence; returns a ticket.
    beginRead(id, rows) {
      const entry = textures[id];
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, entry.width * rows * BYTES_PER_TEXEL_READ, gl.STREAM_READ);
      target(entry);
      if (readsWait) gl.finish();
      const { format, read } = FORMATS[entry.kind];
      gl.readPixels(0, 0, entry.width, rows, format, read.type, 0);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      reads.set(nextRead, { buffer, fence, behind: flushed });
      return nextRead++;
    },

    // A promise of whether the GPU passed a read's fence; not so where the context was lost, or the
    // read cancelled. Fences are passed in their order, so only the first that waits is polled.
    passed(ticket) {
      const question = () => {
        if (gl.isContextLost() || !reads.has(ticket)) return false;
        const { fence, behind } = reads.get(ticket);
        const status = gl.clientWaitSync(fence, 0, 0);
        if (status === gl.TIMEOUT_EXPIRED) return null;
        if (status !== gl.WAIT_FAILED) finished = behind;
        return status !== gl.WAIT_FAILED;
      };
      lastPassed = lastPassed.then(() => poll(question));
      return lastPassed;
    },

    // Copy the first bytes of a finished read to an address of Python's memory, and release it.
    endRead(ticket, address, count) {
      try {
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, reads.get(ticket).buffer);
        const pixels = new Uint8Array(module.HEAPU8.buffer, address, count);
        gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, pixels);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      } finally {
        finishRead(ticket);
      }
    },

    cancelRead(ticket) {
      finishRead(ticket);
    },

    pendingReads() {
      return reads.size;
    },

    hasTimer: timer !== null,

    // Measure the GPU's time from now on; one measurement at a time.
    beginTiming() {
      noteInterruptions();
      timing = { query: gl.createQuery(), interrupted: false };
      timings.add(timing);
      gl.beginQuery(timer.TIME_ELAPSED_EXT, timing.query);
    },

    // End the measurement; a promise of the milliseconds, NaN where the GPU was interrupted.
    endTiming() {
      gl.endQuery(timer.TIME_ELAPSED_EXT);
      const ended = timing;
      return poll(() => {
        const lost = gl.isContextLost();
        if (!lost && !gl.getQueryParameter(ended.query, gl.QUERY_RESULT_AVAILABLE)) return null;
        if (!lost) noteInterruptions();
        timings.delete(ended);
        const isInvalid = lost || ended.interrupted;
        const milliseconds = isInvalid ? NaN : gl.getQueryParameter(ended.query, gl.QUERY_RESULT) / 1e6;
        gl.deleteQuery(ended.query);
        return milliseconds;
      });
    },

    // Call a Python function once the running task has given control back to the event loop. False
    // where there is no context any more.
    schedule(callback) {
      queueMicrotask(() => closed || callback());
      return !gl.isContextLost();
    },

    // Call a Python function when the context is lost.
    whenLost(callback) {
      gl.canvas.addEventListener("webglcontextlost", () => closed || callback());
    },

    // Take nothing for granted that was set before, as others have drawn in the meantime.
    forgetState() {
      currentProgram = null;
      currentTarget = null;
      activeUnit = -1;
      boundTextures.length = 0;
      gl.bindVertexArray(vertices);
    },

    // Delete all that was made on a context which others go on with.
    free() {
      for (const entry of textures) {
        if (entry === null) continue;
        gl.deleteFramebuffer(entry.framebuffer ?? null);
        gl.deleteTexture(entry.texture);
      }
      for (const { program } of programs.slice(1)) gl.deleteProgram(program);
      for (const ticket of [...reads.keys()]) finishRead(ticket);
      gl.deleteShader(vertex);
      groups.forEach(deleteGroup);
      gl.deleteVertexArray(vertices);
    },

    // Call back no more.
    close() {
      closed = true;
      turnReceiver.close();
      for (const resolve of waitingForTurn.splice(0)) resolve();
    },
  };
}

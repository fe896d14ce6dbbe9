// The WebGL device behind Python's integers: textures, programs, queued draws, reads.
//
// Calling WebGL from Python costs 2 to 4 µs per call, a draw about 50 µs. Python therefore packs a
// draw into a few integers in its own memory and this file executes the whole queue in one crossing
// (about 12 µs per draw, all told). Textures, programs and pending reads are integers in Python too:
// no object crosses, so no proxy can leak. State that is already set is not set again.
//
// The value of this file is a function of the context and of Pyodide's Emscripten module.
(gl, module) => {
  const FORMATS = [
    { internal: gl.RGBA32F, format: gl.RGBA, type: gl.FLOAT, array: Float32Array, buffer: "f32" },
    { internal: gl.RGBA32I, format: gl.RGBA_INTEGER, type: gl.INT, array: Int32Array, buffer: "i32" },
    { internal: gl.RGBA8UI, format: gl.RGBA_INTEGER, type: gl.UNSIGNED_BYTE, array: Uint8Array, buffer: "u8" },
  ];
  // Unsigned bytes can be read back portably only as unsigned integers.
  const READ_TYPES = [gl.FLOAT, gl.INT, gl.UNSIGNED_INT];
  const READ_ARRAYS = ["f32", "i32", "u32"];
  const BYTES_PER_TEXEL_READ = 16;

  const textures = [];
  const freeIds = [];
  const programs = [];
  const reads = new Map();
  let nextRead = 0;

  let currentProgram = null;
  let currentTarget = null;
  const multipleTargets = gl.createFramebuffer();
  let activeUnit = -1;
  const boundTextures = [];

  gl.bindVertexArray(gl.createVertexArray());
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

  function target(entry) {
    if (currentTarget === entry) return;
    if (entry.framebuffer === null) {
      entry.framebuffer = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, entry.framebuffer);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, entry.texture, 0);
    } else {
      gl.bindFramebuffer(gl.FRAMEBUFFER, entry.framebuffer);
    }
    gl.viewport(0, 0, entry.width, entry.height);
    currentTarget = entry;
  }

  // Render to several textures of one size at once, from their numbers at a place of the queue.
  function targets(ints, at, count) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, multipleTargets);
    const attachments = [];
    for (let index = 0; index < count; index++) {
      const attachment = gl.COLOR_ATTACHMENT0 + index;
      attachments.push(attachment);
      gl.framebufferTexture2D(
        gl.FRAMEBUFFER, attachment, gl.TEXTURE_2D, textures[ints[at + index]].texture, 0);
    }
    gl.drawBuffers(attachments);
    const { width, height } = textures[ints[at]];
    gl.viewport(0, 0, width, height);
    currentTarget = null;
  }

  // Tell a program where its fragments lie in a target of this size.
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

  function finishRead(ticket) {
    const read = reads.get(ticket);
    reads.delete(ticket);
    gl.deleteSync(read.fence);
    gl.deleteBuffer(read.buffer);
  }

  return {
    // Make a texture; kind is 0 for float32, 1 for int32, 2 for bool.
    createTexture(width, height, kind) {
      const texture = gl.createTexture();
      select(texture);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      gl.texStorage2D(gl.TEXTURE_2D, 1, FORMATS[kind].internal, width, height);
      const id = freeIds.length ? freeIds.pop() : textures.length;
      textures[id] = { texture, framebuffer: null, width, height, kind };
      return id;
    },

    deleteTexture(id) {
      const entry = textures[id];
      textures[id] = null;
      freeIds.push(id);
      const unit = boundTextures.indexOf(entry.texture);
      if (unit >= 0) boundTextures[unit] = null;
      if (currentTarget === entry) currentTarget = null;
      if (entry.framebuffer !== null) gl.deleteFramebuffer(entry.framebuffer);
      gl.deleteTexture(entry.texture);
    },

    // Copy a Python buffer of elements into a texture: whole rows, then the rest of the last one.
    upload(id, source) {
      const { texture, width, kind } = textures[id];
      const { format, type, array, buffer } = FORMATS[kind];
      const view = source.getBuffer(buffer);
      try {
        const elements = view.data;
        const row = width * 4;
        const rows = Math.floor(elements.length / row);
        const rest = elements.length - rows * row;
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
      } finally {
        view.release();
      }
    },

    // Register a linked program; names are comma-separated. A sampler's name comes with the number of
    // elements that are read at a time, a uniform's with the first letter of its type.
    addProgram(program, targetCount, samplerNames, uniformNames) {
      const split = (names) => (names === "" ? [] : names.split(","));
      gl.useProgram(program);
      currentProgram = null;
      const locate = (name) => gl.getUniformLocation(program, name);
      const samplers = split(samplerNames).map((named, unit) => {
        const [name, lanes] = named.split(":");
        gl.uniform1i(locate(name), unit);
        const [mask, place] = [locate(`${name}Mask`), locate(`${name}Place`)];
        return { lanes: Number(lanes), mask, place, width: 0, height: 0 };
      });
      const uniforms = split(uniformNames).map((name) => ({
        location: locate(name.slice(0, -2)),
        isFloat: name.endsWith(":f"),
        value: null,
      }));
      const [size, rowWidth] = [locate("hereSize"), locate("hereWidth")];
      programs.push({ program, targetCount, samplers, uniforms, size, rowWidth, width: 0, height: 0 });
      return programs.length - 1;
    },

    // Execute the draws packed at an address of Python's memory, up to a negative program number:
    // program, target textures, one texture per sampler, one word per uniform.
    flush(address) {
      const ints = module.HEAP32;
      const floats = module.HEAPF32;
      let at = address >> 2;
      while (ints[at] >= 0) {
        const entry = programs[ints[at++]];
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
      ints[address >> 2] = -1;
    },

    // Read the first rows of a texture into a Python buffer, waiting for the GPU.
    read(id, rows, destination) {
      const entry = textures[id];
      target(entry);
      const view = destination.getBuffer(READ_ARRAYS[entry.kind]);
      try {
        gl.readPixels(0, 0, entry.width, rows, FORMATS[entry.kind].format, READ_TYPES[entry.kind], view.data);
      } finally {
        view.release();
      }
    },

    // Start reading a texture into a pixel-pack buffer behind a fence; returns a ticket.
    beginRead(id, rows) {
      const entry = textures[id];
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, buffer);
      gl.bufferData(gl.PIXEL_PACK_BUFFER, entry.width * rows * BYTES_PER_TEXEL_READ, gl.STREAM_READ);
      target(entry);
      gl.readPixels(0, 0, entry.width, rows, FORMATS[entry.kind].format, READ_TYPES[entry.kind], 0);
      gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
      gl.flush();
      reads.set(nextRead, { buffer, fence });
      return nextRead++;
    },

    // A promise of whether the GPU passed a read's fence; not so where the context was lost, or the
    // read cancelled. Asking ever more seldom leaves the processor to a GPU that is emulated on it,
    // and adds no more than a tenth to the wait.
    passed(ticket) {
      const started = performance.now();
      return new Promise((resolve) => {
        const look = () => {
          if (gl.isContextLost() || !reads.has(ticket)) return resolve(false);
          const status = gl.clientWaitSync(reads.get(ticket).fence, 0, 0);
          if (status !== gl.TIMEOUT_EXPIRED) return resolve(status !== gl.WAIT_FAILED);
          setTimeout(look, Math.min((performance.now() - started) / 10, 16));
        };
        look();
      });
    },

    // Copy a finished read into a Python buffer and forget it.
    endRead(ticket, destination) {
      const view = destination.getBuffer("u8");
      try {
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, reads.get(ticket).buffer);
        gl.getBufferSubData(gl.PIXEL_PACK_BUFFER, 0, view.data);
        gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
      } finally {
        view.release();
        finishRead(ticket);
      }
    },

    cancelRead(ticket) {
      finishRead(ticket);
    },

    pendingReads() {
      return reads.size;
    },

    // Call a Python function once the running task has given control back to the event loop.
    schedule(callback) {
      queueMicrotask(callback);
    },
  };
}

// A WebGL 1 context that answers as one of WebGL 2 does, as far as `device.js` asks.
//
// Textures of integers are textures of floats here, and 16-bit floats are converted on the processor.
// Fences are queries of the timer, where there is one; else the GPU has a frame's time for draws. Draws
// have several targets where there is an extension for that. There are no buffers for reading.
//
// Takes the context, and whether numbers are 16-bit floats.
export default function webgl1(real, isHalf) {
  const HALF_FLOAT_OES = 0x8d61;
  const ALREADY_SIGNALED = 0x911a;
  const TIMEOUT_EXPIRED = 0x911b;
  const WAIT_FAILED = 0x911d;
  const ONE_FRAME = 17; // milliseconds
  const timer = real.getExtension("EXT_disjoint_timer_query");
  const several = real.getExtension("WEBGL_draw_buffers");

  const gl = {
    get drawingBufferWidth() { return real.drawingBufferWidth; },
    get drawingBufferHeight() { return real.drawingBufferHeight; },
    canvas: real.canvas,
    RGBA32F: 0x8814, RGBA16F: 0x881a, RGBA32I: 0x8d82, RGBA8UI: 0x8d7c, RGBA8: 0x8058,
    RGBA_INTEGER: 0x8d99, MAX_DRAW_BUFFERS: 0x8824,
    SYNC_GPU_COMMANDS_COMPLETE: 0x9117, ALREADY_SIGNALED, TIMEOUT_EXPIRED, WAIT_FAILED,
  };
  for (const name in real) {
    if (name in gl) continue;
    gl[name] = typeof real[name] === "function" ? real[name].bind(real) : real[name];
  }

  const corners = real.createBuffer();
  const types = new WeakMap(); // of textures
  const bound = []; // texture of each unit
  let unit = 0;
  let drawn = -Infinity; // the time of the last draw

  // How many textures of floats a draw can write: extensions promise framebuffers with one of these, so
  // more are tried.
  function countTargets() {
    if (several === null) return 1;
    const limits = [several.MAX_DRAW_BUFFERS_WEBGL, several.MAX_COLOR_ATTACHMENTS_WEBGL];
    const most = Math.min(...limits.map((name) => real.getParameter(name)));
    const framebuffer = real.createFramebuffer();
    const tried = [];
    const attachments = [];
    let count = 0;
    real.bindFramebuffer(real.FRAMEBUFFER, framebuffer);
    while (count < most) {
      const texture = real.createTexture();
      real.bindTexture(real.TEXTURE_2D, texture);
      real.texImage2D(
        real.TEXTURE_2D, 0, real.RGBA, 1, 1, 0, real.RGBA, isHalf ? HALF_FLOAT_OES : real.FLOAT, null);
      const attachment = real.COLOR_ATTACHMENT0 + count;
      real.framebufferTexture2D(real.FRAMEBUFFER, attachment, real.TEXTURE_2D, texture, 0);
      tried.push(texture);
      attachments.push(attachment);
      several.drawBuffersWEBGL(attachments);
      if (real.checkFramebufferStatus(real.FRAMEBUFFER) !== real.FRAMEBUFFER_COMPLETE) break;
      count++;
    }
    real.deleteFramebuffer(framebuffer);
    for (const texture of tried) real.deleteTexture(texture);
    return Math.max(1, count);
  }
  const targetCount = countTargets();

  const floats = new Float32Array(1);
  const bits = new Uint32Array(floats.buffer);

  // The bits of the nearest 16-bit float, for numbers in its range.
  function halfBits(x) {
    floats[0] = Math.abs(x);
    const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
    if (Number.isNaN(x)) return 0x7e00;
    if (floats[0] < 2 ** -14) return sign | roundEven(floats[0] * 2 ** 24);
    // Half of what is cut off is added, less one where the rest is even.
    const rounded = bits[0] + 0xfff + ((bits[0] >>> 13) & 1);
    return sign | ((rounded >>> 13) - (112 << 10));
  }

  function roundEven(x) {
    const whole = Math.floor(x);
    const part = x - whole;
    return whole + (part > 0.5 || (part === 0.5 && whole % 2 === 1) ? 1 : 0);
  }

  function converted(data, type) {
    if (type === real.FLOAT) return data instanceof Float32Array ? data : new Float32Array(data);
    return type === HALF_FLOAT_OES ? Uint16Array.from(data, halfBits) : data;
  }

  return Object.assign(gl, {
    getParameter: (name) => (name === gl.MAX_DRAW_BUFFERS ? targetCount : real.getParameter(name)),
    drawBuffers: (attachments) => several.drawBuffersWEBGL(attachments),

    createVertexArray: () => null,
    deleteVertexArray() { real.deleteBuffer(corners); },
    bindVertexArray() {
      real.bindBuffer(real.ARRAY_BUFFER, corners);
      real.bufferData(real.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1]), real.STATIC_DRAW);
      real.enableVertexAttribArray(0);
      real.vertexAttribPointer(0, 2, real.FLOAT, false, 0, 0);
    },

    linkProgram(program) {
      real.bindAttribLocation(program, 0, "hereCorner");
      real.linkProgram(program);
    },

    activeTexture(name) {
      unit = name - real.TEXTURE0;
      real.activeTexture(name);
    },
    bindTexture(target, texture) {
      bound[unit] = texture;
      real.bindTexture(target, texture);
    },

    texStorage2D(target, levels, internal, width, height) {
      const type = { [gl.RGBA32F]: real.FLOAT, [gl.RGBA16F]: HALF_FLOAT_OES }[internal];
      types.set(bound[unit], type ?? real.UNSIGNED_BYTE);
      real.texImage2D(target, 0, real.RGBA, width, height, 0, real.RGBA, types.get(bound[unit]), null);
    },

    texSubImage2D(target, level, x, y, width, height, format, type, source) {
      const own = types.get(bound[unit]);
      if (!ArrayBuffer.isView(source)) {
        real.texSubImage2D(target, level, x, y, real.RGBA, own, source);
        return;
      }
      real.texSubImage2D(target, level, x, y, width, height, real.RGBA, own, converted(source, own));
    },

    // Numbers come as they are stored, and go as what was asked for.
    readPixels(x, y, width, height, format, type, destination) {
      if (type === real.FLOAT) {
        real.readPixels(x, y, width, height, real.RGBA, type, destination);
        return;
      }
      const isInt = type === real.INT;
      const pixels = new (isInt ? Float32Array : Uint8Array)(width * height * 4);
      real.readPixels(x, y, width, height, real.RGBA, isInt ? real.FLOAT : real.UNSIGNED_BYTE, pixels);
      destination.set(pixels);
    },

    drawArrays(mode, first, count) {
      real.drawArrays(mode, first, count);
      drawn = performance.now();
    },

    fenceSync() {
      if (timer === null) return { time: drawn + ONE_FRAME };
      const query = timer.createQueryEXT();
      timer.beginQueryEXT(timer.TIME_ELAPSED_EXT, query);
      timer.endQueryEXT(timer.TIME_ELAPSED_EXT);
      return { query };
    },
    clientWaitSync({ query, time }) {
      const passed = timer === null
        ? performance.now() >= time
        : timer.getQueryObjectEXT(query, timer.QUERY_RESULT_AVAILABLE_EXT);
      return passed ? ALREADY_SIGNALED : TIMEOUT_EXPIRED;
    },
    deleteSync({ query }) {
      if (query !== undefined) timer.deleteQueryEXT(query);
    },
  });
}

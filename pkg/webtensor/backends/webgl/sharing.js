// The device on a context that somebody else draws with, too.
//
// Each call that changes the context's state first puts it into the state that draws need, and then
// puts back what was there. That takes some dozens of questions, which browsers answer from what they
// keep themselves, so draws still wait in Python's queue and share the cost of one call.
//
// Takes the context, the function in `device.js`, and its further arguments.
export default function sharing(gl, makeDevice, ...deviceArguments) {
  const CAPABILITIES = [
    gl.BLEND, gl.CULL_FACE, gl.DEPTH_TEST, gl.DITHER, gl.POLYGON_OFFSET_FILL, gl.RASTERIZER_DISCARD,
    gl.SAMPLE_ALPHA_TO_COVERAGE, gl.SAMPLE_COVERAGE, gl.SCISSOR_TEST, gl.STENCIL_TEST,
  ];
  // The pixel-store parameters that the device needs.
  const STORES = [
    [gl.PACK_ALIGNMENT, 4], [gl.PACK_ROW_LENGTH, 0], [gl.PACK_SKIP_PIXELS, 0], [gl.PACK_SKIP_ROWS, 0],
    [gl.UNPACK_ALIGNMENT, 1], [gl.UNPACK_ROW_LENGTH, 0], [gl.UNPACK_SKIP_PIXELS, 0],
    [gl.UNPACK_SKIP_ROWS, 0], [gl.UNPACK_IMAGE_HEIGHT, 0], [gl.UNPACK_SKIP_IMAGES, 0],
    [gl.UNPACK_FLIP_Y_WEBGL, false], [gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false],
    [gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.BROWSER_DEFAULT_WEBGL],
  ];
  const BUFFERS = [
    [gl.PIXEL_PACK_BUFFER, gl.PIXEL_PACK_BUFFER_BINDING],
    [gl.PIXEL_UNPACK_BUFFER, gl.PIXEL_UNPACK_BUFFER_BINDING],
  ];
  const FRAMEBUFFERS = [
    [gl.DRAW_FRAMEBUFFER, gl.DRAW_FRAMEBUFFER_BINDING],
    [gl.READ_FRAMEBUFFER, gl.READ_FRAMEBUFFER_BINDING],
  ];
  const UNITS = gl.getParameter(gl.MAX_TEXTURE_IMAGE_UNITS);

  // Put the context into the state that the device needs; return a function that restores the former one.
  function borrow() {
    const get = (name) => gl.getParameter(name);
    const enabled = CAPABILITIES.filter((capability) => gl.isEnabled(capability));
    const stores = STORES.map(([name]) => get(name));
    const buffers = BUFFERS.map(([, binding]) => get(binding));
    const framebuffers = FRAMEBUFFERS.map(([, binding]) => get(binding));
    const mask = get(gl.COLOR_WRITEMASK);
    const program = get(gl.CURRENT_PROGRAM);
    const vertices = get(gl.VERTEX_ARRAY_BINDING);
    const viewport = get(gl.VIEWPORT);
    const unit = get(gl.ACTIVE_TEXTURE);
    const units = [];
    for (let index = 0; index < UNITS; index++) {
      gl.activeTexture(gl.TEXTURE0 + index);
      units.push([get(gl.TEXTURE_BINDING_2D), get(gl.SAMPLER_BINDING)]);
      gl.bindSampler(index, null);
    }
    for (const capability of enabled) gl.disable(capability);
    for (const [name, value] of STORES) gl.pixelStorei(name, value);
    for (const [target] of BUFFERS) gl.bindBuffer(target, null);
    gl.colorMask(true, true, true, true);

    return () => {
      units.forEach(([texture, sampler], index) => {
        gl.activeTexture(gl.TEXTURE0 + index);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.bindSampler(index, sampler);
      });
      gl.activeTexture(unit);
      gl.viewport(...viewport);
      gl.bindVertexArray(vertices);
      gl.useProgram(program);
      gl.colorMask(...mask);
      FRAMEBUFFERS.forEach(([target], index) => gl.bindFramebuffer(target, framebuffers[index]));
      BUFFERS.forEach(([target], index) => gl.bindBuffer(target, buffers[index]));
      STORES.forEach(([name], index) => gl.pixelStorei(name, stores[index]));
      for (const capability of enabled) gl.enable(capability);
    };
  }

  function borrowing(call) {
    return (...values) => {
      if (gl.isContextLost()) return call(...values);
      const giveBack = borrow();
      try {
        return call(...values);
      } finally {
        giveBack();
      }
    };
  }

  const device = borrowing(() => makeDevice(gl, ...deviceArguments))();
  // The page may measure time itself, and draw.
  const shared = { ...device, hasTimer: false, isIdle: () => false };
  for (const name of ["createTexture", "upload", "uploadPixels", "flush", "read", "beginRead", "endRead"]) {
    shared[name] = borrowing((...values) => {
      device.forgetState();
      return device[name](...values);
    });
  }
  return shared;
}

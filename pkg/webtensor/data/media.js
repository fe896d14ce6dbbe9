// Cameras and microphones. Streams, their events and timers are JavaScript's, so this is, too. Promises
// never reject: Pyodide would wait for ever where the reason is no Error.
export default function media() {
  const MILLISECONDS_BETWEEN_LOOKS = 200;
  const MILLISECONDS_TO_START = 5000;

  const attempt = async (action) => {
    try {
      return { value: await action() };
    } catch (error) {
      return { name: error.name, message: error.message };
    }
  };

  // What ends with the tracks of a stream, or when it is stopped.
  const lifeOf = (stream) => {
    const waiting = new Set();
    let state = "live";
    const end = (reason) => {
      if (state !== "live") {
        return;
      }
      state = reason;
      clearInterval(watch);
      for (const track of stream.getTracks()) {
        track.stop();
      }
      for (const resolve of waiting) {
        resolve(false);
      }
      waiting.clear();
    };
    // Tracks that the page itself stops get no event.
    const watch = setInterval(() => {
      if (stream.getTracks().some((track) => track.readyState === "ended")) {
        end("lost");
      }
    }, MILLISECONDS_BETWEEN_LOOKS);
    // Resolves to true when `start` calls what it is given, or to false if the stream ends before.
    const until = (start) =>
      new Promise((resolve) => {
        if (state !== "live") {
          resolve(false);
          return;
        }
        waiting.add(resolve);
        start(() => {
          waiting.delete(resolve);
          resolve(state === "live");
        });
      });
    return { end, until, state: () => state };
  };

  const openCamera = (constraints, element) =>
    attempt(async () => {
      const stream = await navigator.mediaDevices.getUserMedia({ video: JSON.parse(String(constraints)) });
      const life = lifeOf(stream);
      const video = element ?? document.createElement("video");
      try {
        video.muted = true;
        video.playsInline = true;
        video.srcObject = stream;
        await video.play();
      } catch (error) {
        life.end("stopped");
        throw error;
      }
      const nextFrame = () =>
        life.until((arrived) =>
          video.requestVideoFrameCallback
            ? video.requestVideoFrameCallback(arrived)
            : requestAnimationFrame(arrived),
        );
      const stop = () => {
        life.end("stopped");
        video.srcObject = null;
      };
      return { video, nextFrame, stop, state: life.state };
    });

  const openMicrophone = (constraints, fftSize, sampleRate, smoothing) =>
    attempt(async () => {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: JSON.parse(String(constraints)) });
      const life = lifeOf(stream);
      const context = new AudioContext(sampleRate ? { sampleRate } : {});
      const stop = () => {
        life.end("stopped");
        if (context.state !== "closed") {
          context.close();
        }
      };
      try {
        const started = await Promise.race([
          context.resume().then(() => true),
          new Promise((resolve) => setTimeout(resolve, MILLISECONDS_TO_START, false)),
        ]);
        if (!started) {
          throw new DOMException(
            "the browser starts no audio: it has no device for it, or waits for a click on the page",
            "InvalidStateError",
          );
        }
        const analyser = new AnalyserNode(context, {
          fftSize: fftSize * 2, // of which half are frequencies
          smoothingTimeConstant: smoothing,
        });
        context.createMediaStreamSource(stream).connect(analyser);
        const spectrum = new Float32Array(fftSize);
        const wave = new Float32Array(fftSize);
        // Frames of `fftSize` samples, one after the other: their spectra in decibels, and the samples.
        const record = async (frames, columns) => {
          const spectrogram = new Float32Array(frames * columns);
          const waveform = new Float32Array(frames * fftSize);
          const start = performance.now();
          for (let frame = 0; frame < frames; frame++) {
            const due = start + ((frame + 1) * fftSize * 1000) / context.sampleRate;
            const isLive = await life.until((arrived) => setTimeout(arrived, due - performance.now()));
            if (!isLive) {
              return undefined;
            }
            analyser.getFloatFrequencyData(spectrum);
            analyser.getFloatTimeDomainData(wave);
            spectrogram.set(spectrum.subarray(0, columns), frame * columns);
            waveform.set(wave, frame * fftSize);
          }
          return { spectrogram, waveform };
        };
        return { record, stop, state: life.state, sampleRate: context.sampleRate };
      } catch (error) {
        stop();
        throw error;
      }
    });

  return { openCamera, openMicrophone };
}

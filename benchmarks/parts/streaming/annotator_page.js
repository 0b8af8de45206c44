/* Runs in the desk's page before its own scripts: times what the desk sends, receives and shows. */
(() => {
  const bench = { added: {}, socket: null, state: null, ready: 0, firstFrame: null };
  window.__bench = bench;

  const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(...given) {
      super(...given);
      if (!String(given[0]).includes("/ws/episodes/")) return;
      bench.socket = this;
      this.addEventListener("message", ({ data }) => {
        const event = JSON.parse(data);
        if (event.type === "step.added") bench.added[event.step.command_id] = { at: performance.now(), step: event.step };
        if (event.type === "rejected") bench.added[event.command_id] = { at: performance.now(), refused: event };
        if (event.type === "proposals.ready" || event.type === "snapshot") bench.ready += 1;
        if (event.type === "episode.changed" && event.status) bench.state = event.status;
        if (event.type === "snapshot") bench.state = event.state.status;
      });
    }
  };

  const until = async (met) => {
    while (!met()) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  /** Sends one act and waits for its step, and for the next candidates unless told not to: { ms, step }. */
  bench.act = async (action, thought = "Measured.", offers = true) => {
    const id = `bench-${Math.random().toString(36).slice(2)}-${Date.now()}`;
    const offered = bench.ready;
    const sent = performance.now();
    bench.socket.send(JSON.stringify({ type: "act", command_id: id, action, thought }));
    await until(() => bench.added[id]);
    const { at, step, refused } = bench.added[id];
    if (refused) throw new Error(JSON.stringify(refused));
    if (offers) await Promise.race([until(() => bench.ready > offered), new Promise((resolve) => setTimeout(resolve, 3000))]);
    return { ms: at - sent, step };
  };

  const CELL = 24, BITS = 16, LEFT = 600, TOP = 280;
  const canvas = document.createElement("canvas");
  canvas.width = (BITS + 2) * CELL;
  canvas.height = CELL;
  const pen = canvas.getContext("2d", { willReadFrequently: true });

  /** Milliseconds since the clock on this picture was drawn; null where no clock can be read. */
  const age = (picture, width) => {
    const now = performance.timeOrigin + performance.now();
    const scale = width / 1280;
    pen.drawImage(picture, LEFT * scale, TOP * scale, canvas.width * scale, CELL * scale, 0, 0, canvas.width, CELL);
    const pixels = pen.getImageData(0, CELL / 2, canvas.width, 1).data;
    const white = (cell) => pixels[(cell * CELL + CELL / 2) * 4 + 1] > 127;
    if (!white(BITS) || white(BITS + 1)) return null;
    let stamp = 0;
    for (let bit = 0; bit < BITS; bit += 1) stamp = stamp * 2 + (white(bit) ? 1 : 0);
    const late = (((now - stamp) % 65536) + 65536) % 65536;
    return late < 5000 ? { late, stamp } : null;
  };

  /** Reads the clock from the live picture for so long; one entry a newly shown stamp (milliseconds). */
  bench.glass = (milliseconds) =>
    new Promise((resolve) => {
      const seen = [];
      let last = null;
      const end = performance.now() + milliseconds;
      const look = () => {
        const video = document.querySelector("video");
        const picture = video ?? [...document.querySelectorAll("canvas")].find((one) => one.width === 1280);
        if (picture) {
          const read = age(picture, video ? video.videoWidth : picture.width);
          if (read && read.stamp !== last) {
            last = read.stamp;
            seen.push(read.late);
          }
        }
        if (performance.now() > end) resolve({ kind: video ? "webrtc" : "vnc", seen });
        else if (video) video.requestVideoFrameCallback(look);
        else requestAnimationFrame(look);
      };
      look();
    });

  /** When the first live frame was shown, in milliseconds since the navigation began. */
  const watch = () => {
    const video = document.querySelector("video");
    if (!video) return requestAnimationFrame(watch);
    video.requestVideoFrameCallback(() => {
      bench.firstFrame = performance.now();
    });
  };
  requestAnimationFrame(watch);
})();

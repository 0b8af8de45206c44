// Runs before every script of every document and worker of a session: randomness from the seed, and times in whole
// milliseconds, which two runs share to the last bit. The engine puts the settings in.
(() => {
  const settings = __SETTINGS__;
  const scope = globalThis;
  if (scope.__pilothouse_seeded) return;
  Object.defineProperty(scope, "__pilothouse_seeded", { value: true });

  // sfc32 on four words from the seed and the address: frames and workers each have a sequence of their own.
  const words = (text) => {
    let a = 1779033703, b = 3144134277, c = 1013904242, d = 2773480762;
    for (let i = 0; i < text.length; i++) {
      const k = text.charCodeAt(i);
      a = b ^ Math.imul(a ^ k, 597399067);
      b = c ^ Math.imul(b ^ k, 2869860233);
      c = d ^ Math.imul(c ^ k, 951274213);
      d = a ^ Math.imul(d ^ k, 2716044179);
    }
    return [a, b, c, d];
  };
  const place = scope.location ? scope.location.href.split("#")[0].replace(/^blob:.*/, "blob:") : "";
  let [a, b, c, d] = words(settings.seed + " " + place);
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  const named = (holder, name, value) => {
    Object.defineProperty(value, "name", { value: name });
    Object.defineProperty(holder, name, { value, writable: true, configurable: true });
  };
  named(Math, "random", () => (next() * 0x200000 + (next() >>> 11)) / 0x20000000000000);
  if (scope.Crypto) {
    named(Crypto.prototype, "getRandomValues", function (array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = next() & 255;
      return array;
    });
    named(Crypto.prototype, "randomUUID", () => {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    });
  }
  if (scope.ServiceWorkerContainer) {
    // A service worker answers requests at times of its own.
    named(ServiceWorkerContainer.prototype, "register", () =>
      Promise.reject(new DOMException("Service workers are not available here.", "NotSupportedError")));
  }
  if (settings.exact) {
    const now = Performance.prototype.now;
    const origin = Object.getOwnPropertyDescriptor(Performance.prototype, "timeOrigin").get;
    named(Performance.prototype, "now", function () { return Math.round(now.call(this)); });
    Object.defineProperty(Performance.prototype, "timeOrigin", {
      get() { return Math.round(origin.call(this)); }, enumerable: true, configurable: true });
    // The browser stamps events with its own real time.
    const stamps = new WeakMap();
    Object.defineProperty(Event.prototype, "timeStamp", {
      get() {
        if (!stamps.has(this)) stamps.set(this, performance.now());
        return stamps.get(this);
      }, enumerable: true, configurable: true });
    if (scope.requestAnimationFrame) {
      // One call a game frame: what is drawn without time passing must not move a game that counts its frames.
      const request = scope.requestAnimationFrame;
      let waiting = new Map(), running = waiting, number = 0, last = -1, asked = false;
      const ask = () => {
        if (!asked) request.call(scope, run);
        asked = true;
      };
      const run = (time) => {
        asked = false;
        if (Math.round(time) <= last) return ask();
        last = Math.round(time);
        running = waiting;
        waiting = new Map();
        for (const [id, callback] of running) {
          if (!running.delete(id)) continue;
          try { callback(last); } catch (error) { scope.reportError(error); }
        }
      };
      named(scope, "requestAnimationFrame", (callback) => {
        if (typeof callback !== "function") return request.call(scope, callback);
        waiting.set(++number, callback);
        ask();
        return number;
      });
      named(scope, "cancelAnimationFrame", (id) => { waiting.delete(id); running.delete(id); });
    }
  }
})();

// Runs before every script of every document and worker of a session: randomness from the seed, and time in whole
// milliseconds that only the engine moves. Where the browser's own virtual time is to be had (`exact`), pages keep its
// clocks and timers; workers, whose timers it does not move, and pages without it get those of `clockwork`.
(function prelude(settings) {
  const scope = globalThis;
  const tell = scope.__pilothouse_drawn;
  delete scope.__pilothouse_drawn;  // pages must not tell of frames that were not drawn
  if (Object.hasOwn(scope, "__pilothouse")) return;
  const isWorker = typeof WorkerGlobalScope !== "undefined";
  const FRAME = 1000 / 60;

  const named = (holder, name, value) => {
    Object.defineProperty(value, "name", { value: name });
    Object.defineProperty(holder, name, { value, writable: true, configurable: true });
  };
  const getter = (holder, name, get) => Object.defineProperty(holder, name, { get, enumerable: true, configurable: true });
  const run = (callback, ...told) => {
    try { callback.apply(scope, told); } catch (error) { scope.reportError(error); }
  };

  // -- Randomness: sfc32 on the seed and the address, so that frames and workers each have a sequence of their own.
  const place = scope.location ? scope.location.href.split("#")[0].replace(/^blob:.*/, "blob:") : "";
  let [a, b, c, d] = (() => {
    let h = [1779033703, 3144134277, 1013904242, 2773480762];
    for (const letter of `${settings.seed} ${isWorker} ${place}`) {
      const k = letter.codePointAt(0);
      h = [h[1] ^ Math.imul(h[0] ^ k, 597399067), h[2] ^ Math.imul(h[1] ^ k, 2869860233),
        h[3] ^ Math.imul(h[2] ^ k, 951274213), h[0] ^ Math.imul(h[3] ^ k, 2716044179)];
    }
    return h;
  })();
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  named(Math, "random", () => (next() * 0x200000 + (next() >>> 11)) / 0x20000000000000);
  const fill = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() & 255;
    return array;
  };
  named(Crypto.prototype, "getRandomValues", fill);
  if (scope.isSecureContext) {
    named(Crypto.prototype, "randomUUID", () => {
      const bytes = fill(new Uint8Array(16));
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

  if (scope.open) {
    // Each window costs the browser a while even where it is refused; nobody opens so many in good faith.
    const open = scope.open.bind(scope);
    let left = 32;
    named(scope, "open", (...told) => (left-- > 0 ? open(...told) : null));
  }

  // -- Time
  const native = {
    now: Performance.prototype.now.bind(performance), Date, date: Date.now,
    setTimeout: scope.setTimeout.bind(scope), clearTimeout: scope.clearTimeout.bind(scope),
    request: scope.requestAnimationFrame?.bind(scope),
  };
  const faked = !settings.exact;
  // Whether a clockwork makes its time: in pages where the browser's cannot be had, and in workers of a page always.
  const worked = faked || typeof DedicatedWorkerGlobalScope !== "undefined";
  let now = isWorker ? settings.now : 0, born = now;  // game time, and when this document or worker began (ms)
  if (!isWorker) {
    for (const near of [scope.parent, scope.opener]) {
      // One of another origin cannot be asked; the engine tells such a document itself.
      try { if (near && near !== scope) now = born = near.__pilothouse.now(); } catch { continue; }
    }
  }
  // By the browser a document begins where its navigation did, which is real time.
  const began = native.now(), dated = native.date();
  // The end of every answer moves the browser's time by 10 ms, before a document's scripts or after them, as it
  // happens. So to a document it is the moment of its birth until time has been given since.
  let still = !worked && !isWorker;
  const passed = () => { still = false; };
  const wall = () => (worked ? settings.start + now : still ? dated : native.date());
  const reading = () => (worked ? now - born : still ? 0 : Math.round(native.now() - began));
  named(Performance.prototype, "now", function () { return reading(); });
  getter(Performance.prototype, "timeOrigin", () => (worked ? settings.start + born : dated));
  // The browser stamps events with its own real time.
  const stamps = new WeakMap();
  getter(Event.prototype, "timeStamp", function () {
    if (!stamps.has(this)) stamps.set(this, reading());
    return stamps.get(this);
  });
  if (worked || !isWorker) {
    const Real = native.Date;
    const Fake = function Date(...told) {
      if (!new.target) return new Real(wall()).toString();
      return Reflect.construct(Real, told.length ? told : [wall()], new.target);
    };
    Fake.prototype = Real.prototype;
    Object.setPrototypeOf(Fake, Real);
    named(Fake, "now", () => wall());
    named(Fake, "parse", Real.parse);
    named(Fake, "UTC", Real.UTC);
    Real.prototype.constructor = Fake;
    named(scope, "Date", Fake);
  }

  // One task of the browser's own between two callbacks: promises that the first made come before the second.
  const channel = new MessageChannel();
  let turned = null;
  channel.port1.onmessage = () => turned();
  const turn = () => new Promise((resolve) => { turned = resolve; channel.port2.postMessage(0); });

  const clockwork = () => {
    const timers = new Map();
    let number = 0, depth = 0;
    const add = (callback, delay, told, every) => {
      const wait = Math.max(depth > 4 ? 4 : 0, Math.trunc(Number(delay)) || 0, 0);
      const call = typeof callback === "function" ? callback : () => (0, eval)(String(callback));
      timers.set(++number, { call, told, due: now + wait, every: every ? Math.max(wait, 1) : 0, depth: depth + 1, order: number });
      return number;
    };
    const cancel = (id) => { timers.delete(Number(id)); };
    named(scope, "setTimeout", (callback, delay, ...told) => add(callback, delay, told, false));
    named(scope, "setInterval", (callback, delay, ...told) => add(callback, delay, told, true));
    named(scope, "clearTimeout", cancel);
    named(scope, "clearInterval", cancel);
    if (scope.requestIdleCallback) {
      const deadline = { didTimeout: false, timeRemaining: () => 10 };
      named(scope, "requestIdleCallback", (callback) => add(() => callback(deadline), 1, [], false));
      named(scope, "cancelIdleCallback", cancel);
    }
    let frames = new Map(), running = frames, drawn = 0;
    if (native.request) {
      named(scope, "requestAnimationFrame", (callback) => { frames.set(++number, callback); return number; });
      named(scope, "cancelAnimationFrame", (id) => { frames.delete(id); running.delete(id); });
    }
    const first = () => {
      let found = null;
      for (const [id, timer] of timers) {
        if (!found || timer.due < found[1].due || (timer.due === found[1].due && timer.order < found[1].order)) found = [id, timer];
      }
      return found;
    };
    const fire = async (id, timer) => {
      now = Math.max(now, timer.due);
      if (timer.every) { timer.due = now + timer.every; timer.order = ++number; } else timers.delete(id);
      depth = timer.depth;
      run(timer.call, ...timer.told);
      depth = 0;
      await turn();
    };
    const frame = async () => {
      running = frames;
      frames = new Map();
      for (const [id, callback] of running) {
        if (!running.delete(id)) continue;
        run(callback, reading());
        await turn();
      }
    };
    const until = async (end) => {
      for (;;) {
        while (Math.round(drawn * FRAME) <= now) drawn++;
        const boundary = Math.round(drawn * FRAME);
        const stop = Math.min(boundary, end);
        for (let due = first(); due && due[1].due <= stop; due = first()) await fire(...due);
        now = Math.max(now, stop);
        if (stop === boundary) await frame();
        await workersUntil(now);
        if (now >= end) return;
      }
    };
    const soon = () => {
      let least = Infinity;
      for (const timer of timers.values()) if (!timer.every) least = Math.min(least, timer.due);
      return least;
    };
    return { until, soon };
  };

  // -- Workers: each gets this prelude before its own script, and a port by which its time is moved.
  const workers = new Set();
  let traffic = 0;
  const workersUntil = async (end) => {
    // Rounds, until neither side has anything more to say to the other.
    for (let round = 0, before = -1; workers.size && before !== traffic && round < 20; round++) {
      before = traffic;
      await Promise.all([...workers].map((worker) => worker.until(end)));
    }
  };
  // The browser's time passes as soon as a page has nothing to do; while workers and pages talk, it has.
  const beat = new MessageChannel();
  let spinning = false;
  beat.port1.onmessage = () => { if (spinning) beat.port2.postMessage(0); };
  const spin = (end) => {
    if (spinning || faked || isWorker) return;
    spinning = true;
    workersUntil(end).finally(() => { spinning = false; });
    beat.port2.postMessage(0);
  };
  const source = () => `(${prelude})(${JSON.stringify({ ...settings, now: wall() - settings.start })});\n`;
  const blobs = new Map();
  const createObjectURL = URL.createObjectURL, revokeObjectURL = URL.revokeObjectURL;
  named(URL, "createObjectURL", (thing) => {
    const url = createObjectURL.call(URL, thing);
    if (thing instanceof Blob) blobs.set(url, thing);
    return url;
  });
  named(URL, "revokeObjectURL", (url) => { blobs.delete(String(url)); revokeObjectURL.call(URL, url); });
  const text = (url) => {
    const [, kind, body] = /^data:([^,]*),(.*)$/s.exec(url);
    return /;base64$/i.test(kind) ? atob(decodeURIComponent(body)) : decodeURIComponent(body);
  };
  const script = (url, options) => {
    // Scripts of a site get the prelude from the engine, which answers for the site.
    const body = url.startsWith("data:") ? text(url) : blobs.get(url);
    if (body === undefined) return url;
    const made = (parts) => createObjectURL.call(URL, new Blob(parts, { type: "text/javascript" }));
    return made([options?.type === "module" ? `import ${JSON.stringify(made([source()]))};\n` : source(), body]);
  };
  if (scope.Worker) {
    const Native = scope.Worker;
    const Wrapped = class Worker extends Native {
      constructor(url, options) {
        super(script(new URL(url, scope.location?.href).href, options), options);
        const { port1, port2 } = new MessageChannel();
        const waiting = [];
        const handle = {
          until: (end) => new Promise((resolve) => { waiting.push(resolve); port1.postMessage(end); }),
          end: () => { workers.delete(handle); waiting.splice(0).forEach((resolve) => resolve()); },
        };
        port1.onmessage = () => waiting.shift()?.();
        const time = wall() - settings.start;
        super.postMessage({ __pilothouse: port2, now: time }, [port2]);
        this.addEventListener("message", () => { traffic++; });
        this.addEventListener("error", (event) => { if (!event.lineno) handle.end(); });
        handles.set(this, handle);
        workers.add(handle);
        spin(time);
      }
      postMessage(...told) {
        traffic++;
        super.postMessage(...told);
        spin(wall() - settings.start);
      }
      terminate() { handles.get(this).end(); return super.terminate(); }
    };
    const handles = new WeakMap();
    named(scope, "Worker", Wrapped);
  }
  let clock = null;
  if (isWorker) {
    clock = clockwork();
    const close = scope.close;
    const listen = (event) => {
      const port = event.data?.__pilothouse;
      if (!port) return;
      event.stopImmediatePropagation();
      scope.removeEventListener("message", listen);
      now = born = event.data.now;
      port.onmessage = async ({ data }) => {
        await clock.until(data);
        await turn();
        port.postMessage(0);
      };
      if (close) named(scope, "close", () => { port.postMessage(0); close.call(scope); });
    };
    scope.addEventListener("message", listen);
  } else if (faked) {
    clock = clockwork();
  }

  // -- What the engine asks of a document
  // How many frames it has drawn, how many workers wait to be moved, in how many ms the next single timer is due, what
  // time it is, whether its frames must be on display, whether it has loaded, and its title.
  let soon = () => Infinity, beats = 0, display = 0, renew = () => {};
  const present = () => (faked ? now : native.date() - settings.start);
  const loaded = () => (document.readyState === "complete" ? 1 : 0);
  const look = () =>
    `${beats} ${workers.size} ${Math.min(soon(), 1e9)} ${present()} ${display} ${loaded()} ${document.title.slice(0, 300)}`;
  for (const canvas of [scope.HTMLCanvasElement, scope.OffscreenCanvas]) {
    const getContext = canvas?.prototype.getContext;
    if (getContext) named(canvas.prototype, "getContext", function (kind, ...told) {
      if (!/^(2d|bitmaprenderer)$/.test(kind)) display = 1;
      return getContext.call(this, kind, ...told);
    });
  }
  if (!isWorker && settings.exact) {
    // One call a game frame: what is drawn without time passing must not move a game that counts its frames.
    // The browser is asked for every frame, so that it draws each one it is told to, and the engine sees that it did.
    let waiting = new Map(), running = waiting, number = 0, last = -1;
    const told = tell && scope.parent === scope ? () => tell(look()) : () => {};
    const frame = () => {
      passed();
      beats++;
      native.request(frame);
      // By the clock: the frames' own stamps move a little where no time passes.
      const at = native.date() - dated;
      if (at > last) {
        last = at;
        running = waiting;
        waiting = new Map();
        for (const [id, callback] of running) if (running.delete(id)) run(callback, last);
      }
      told();
    };
    let asking = null;
    renew = () => {
      // The first document of a new window takes over the scope of the empty one before it, but not its frames.
      if (asking === scope.document) return;
      asking = scope.document;
      native.request(frame);
    };
    renew();
    named(scope, "requestAnimationFrame", (callback) => {
      renew();
      waiting.set(++number, callback);
      return number;
    });
    named(scope, "cancelAnimationFrame", (id) => { waiting.delete(id); running.delete(id); });
    const due = new Map();
    named(scope, "setTimeout", (callback, delay, ...told) => {
      const call = typeof callback === "function" ? callback : () => (0, eval)(String(callback));
      const wait = Number(delay) || 0, early = still ? Math.round(native.now() - began) : 0;
      const id = native.setTimeout(() => {
        if (wait >= 1) passed();
        due.delete(id);
        call.apply(scope, told);
      }, Math.max(0, wait - early));
      due.set(id, reading() + wait);
      return id;
    });
    named(scope, "clearTimeout", (id) => { due.delete(id); native.clearTimeout(id); });
    soon = () => {
      let least = Infinity;
      for (const time of due.values()) least = Math.min(least, time);
      return least - reading();
    };
  } else if (clock) {
    soon = () => clock.soon() - now;
  }
  Object.defineProperty(scope, "__pilothouse", {
    value: Object.freeze({
      look: () => {
        renew();
        return look();
      },
      passed,
      now: () => now,
      drawn: () => new Promise((resolve) => native.request(() => native.request(resolve))),
      spin,
      until: (end) => (clock ? clock.until(end) : workersUntil(end)),
      begin: (time) => { now = born = time; },
    }),
  });
})(__SETTINGS__);

"use strict";
// Plays a made game's rules without its page. Whatever of the browser the rules reach for is a trap that is noted.

const harness = (() => {
  const TRAPS = {
    network: ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker", "RTCPeerConnection", "navigator", "Image"],
    clock: ["Date", "performance", "setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback", "Temporal"],
    unseeded_random: ["crypto"],
    storage: ["localStorage", "sessionStorage", "indexedDB", "caches"],
    dynamic_code: ["Function", "WebAssembly"],
    outside_access: ["document", "window", "self", "globalThis", "top", "parent", "frames", "location", "pilothouse", "TASK", "game"],
  };
  const CHECKED = 120;   // playouts that are also continued by a second instance and tried with illegal moves
  const NONSENSE = ["", "no such move", "__proto__", "constructor", null, 7, -1, {}, []];

  // -- SHA-256 (FIPS 180-4) of a text in UTF-8; the page is no secure context, so that crypto.subtle is not there.
  const K = [], H0 = [];
  for (let n = 2; K.length < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) prime &&= n % d !== 0;
    if (!prime) continue;
    if (H0.length < 8) H0.push((Math.sqrt(n) * 4294967296) | 0);
    K.push((Math.cbrt(n) * 4294967296) | 0);
  }
  const encoder = new TextEncoder(), W = new Int32Array(64);
  function sha256(text) {
    const bytes = encoder.encode(text), length = ((bytes.length + 8) >> 6) + 1;
    const padded = new Uint8Array(length * 64), view = new DataView(padded.buffer);
    padded.set(bytes);
    padded[bytes.length] = 128;
    view.setUint32(length * 64 - 8, Math.floor(bytes.length / 536870912));
    view.setUint32(length * 64 - 4, bytes.length << 3);
    const h = H0.slice();
    for (let block = 0; block < length; block++) {
      for (let i = 0; i < 16; i++) W[i] = view.getInt32(block * 64 + i * 4);
      for (let i = 16; i < 64; i++) {
        const x = W[i - 15], y = W[i - 2];
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        W[i] = (W[i - 16] + s0 + W[i - 7] + s1) | 0;
      }
      let [a, b, c, d, e, f, g, k] = h;
      for (let i = 0; i < 64; i++) {
        const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (k + s1 + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0;
        const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        k = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
      }
      [a, b, c, d, e, f, g, k].forEach((word, i) => { h[i] = (h[i] + word) | 0; });
    }
    return h.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  const copy = (value) => JSON.parse(JSON.stringify(value));

  // A fresh instance of the game; what it reaches for is noted in `reached`.
  function instance(source, reached) {
    const names = [], traps = [];
    const trap = (code, name) => {
      const note = () => {
        reached[`${code} ${name}`] = true;
        throw new Error(`the rules reach for ${name}`);
      };
      return new Proxy(function () {}, { get: note, set: note, apply: note, construct: note, has: note });
    };
    for (const [code, list] of Object.entries(TRAPS)) {
      for (const name of list) {
        names.push(name);
        traps.push(trap(code, name));
      }
    }
    const math = {};
    for (const name of Object.getOwnPropertyNames(Math)) math[name] = Math[name];
    math.random = trap("unseeded_random", "Math.random");
    const pick = "return { rules, replay, verify: typeof verify === 'undefined' ? null : verify, choose: typeof choose === 'undefined' ? null : choose };";
    return Function(...names, "Math", `${source}\n${pick}`)(...traps, math);
  }

  const drawn = (seed) => {
    let a = seed | 0;
    return (most) => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) % most;
    };
  };

  const isPlain = (value) => {
    if (value === null || ["string", "boolean"].includes(typeof value)) return true;
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (Array.isArray(value)) return Object.keys(value).length === value.length && value.every(isPlain);
    return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
  };

  function shapeFault(state, task) {
    if (!isPlain(state)) return "the state is not plain JSON (no undefined, NaN, -0, Map, class or function)";
    const { schemaVersion, terminal, score, level } = state;
    if (schemaVersion !== 1) return "schemaVersion is not 1";
    if (typeof score !== "number") return "score is not a number";
    if (level !== task.level) return "level is not the task's level";
    if (!terminal || typeof terminal.isTerminal !== "boolean") return "terminal.isTerminal is not true or false";
    const outcomes = terminal.isTerminal ? ["won", "lost"] : [null];
    return outcomes.includes(terminal.outcome) ? "" : `terminal.outcome is not one of ${JSON.stringify(outcomes)}`;
  }

  function actionsFault(actions, state) {
    if (!Array.isArray(actions) || !actions.every((one) => typeof one === "string" && one)) return "actions(state) is not a list of texts";
    if (new Set(actions).size !== actions.length) return "actions(state) lists a move twice";
    return !actions.length && !state.terminal.isTerminal ? "a state that is not the end has no legal move" : "";
  }

  function verdictFault(said, state) {
    if (!said || typeof said !== "object") return "verify gives no object";
    const { success, failure, done, score } = said, { isTerminal, outcome } = state.terminal;
    if (!(score >= 0 && score <= 1)) return `verify gives the score ${score}, not one from 0 to 1`;
    if (done !== isTerminal) return `verify says done: ${done} where terminal.isTerminal is ${isTerminal}`;
    if (success !== (outcome === "won")) return `verify says success: ${success} where the outcome is ${outcome}`;
    return failure !== (outcome === "lost") ? `verify says failure: ${failure} where the outcome is ${outcome}` : "";
  }

  // The states that follow from moves, one row a move; the first row is the start.
  function derive(source, task, history) {
    const game = instance(source, {}), rows = [];
    let state = game.replay.start(task);
    for (let step = 0; ; step++) {
      const said = game.verify({ game: state, history: history.slice(0, step), controls: {} }, task, null);
      const { terminal, score, level } = state;
      rows.push({ hash: sha256(game.replay.canonical(state)), score, level, done: terminal.isTerminal, reward: said.score, success: said.success });
      if (step === history.length) return rows;
      if (!game.rules.actions(state).includes(history[step])) return rows;
      state = game.rules.step(state, history[step]);
    }
  }

  // What the expert does in each task.
  function experts(source, tasks, bounds) {
    return tasks.map((task, i) => {
      const game = instance(source, {}), history = [];
      let state = game.replay.start(task), why = "";
      while (!state.terminal.isTerminal && history.length < bounds[i]) {
        let choice = null;
        try { choice = game.choose(copy(state), task); } catch (error) { why = `choose throws ${error}`; }
        const thought = choice?.thought;
        if (!choice) why ||= "choose gives nothing";
        else if (typeof thought?.en !== "string" || typeof thought?.zh !== "string") why = "choose gives no thought in en and zh";
        else if (!game.rules.actions(state).includes(choice.action)) why = `choose gives ${JSON.stringify(choice.action)}, which is not legal`;
        if (why) break;
        state = game.rules.step(state, choice.action);
        history.push(choice.action);
      }
      const won = state.terminal.outcome === "won";
      const said = won ? game.verify({ game: state, history, controls: {} }, task, null) : null;
      why ||= won ? "" : state.terminal.isTerminal ? "it loses" : `it does not end within ${bounds[i]} moves`;
      return { level: task.level, seed: task.seed, won, steps: history.length, score: said ? said.score : 0, history, why };
    });
  }

  // Forged states that a verifier has to see through, made of an honest one; gives those that it believes.
  function forged(source, task, history) {
    const half = history.slice(0, Math.max(1, history.length >> 1)), game = instance(source, {});
    const honest = { game: game.replay.derive(task, half), history: half, controls: {} };
    const before = game.verify(copy(honest), task, null);
    const end = game.replay.derive(task, history), found = [];
    const tries = {
      "a score of a billion": (state) => { state.game.score = 1e9; },
      "a state that says it is won": (state) => { state.game.terminal = { isTerminal: true, outcome: "won" }; },
      "the winning state without its moves": (state) => { state.game = copy(end); },
      "moves that are cut short": (state) => { state.game = copy(end); state.history = history.slice(1); },
      "a move that does not exist": (state) => { state.game.score += 1; state.history.push("no such move"); },
      "no moves": (state) => { state.history = null; },
      "no state": (state) => { state.game = null; },
    };
    for (const [name, forge] of Object.entries(tries)) {
      const state = copy(honest);
      forge(state);
      try {
        const said = game.verify(state, task, null);
        if (said.success || said.score > before.score) found.push({ name, why: "believed" });
      } catch (error) { found.push({ name, why: `the verifier throws ${error}` }); }
    }
    return found;
  }

  // The hash of a state that a page gave.
  const hashed = (source, state) => sha256(instance(source, {}).replay.canonical(state));

  // Calls the verifier on this history so often; whoever asks takes the time.
  function repeat(source, task, history, times) {
    const game = instance(source, {}), state = { game: game.replay.derive(task, history), history, controls: {} };
    for (let i = 0; i < times; i++) game.verify(copy(state), task, null);
    return times;
  }

  // Random play. `options`: {tasks, count, bound, checks, judge, backwards}.
  function playouts(source, options) {
    const reached = {}, faults = {}, chains = [], levels = {};
    const note = (code, text) => { faults[code] ??= text; };
    let game;
    const guarded = (what, call) => {
      try { return call(); } catch (error) {
        const code = what === "loading" && error instanceof SyntaxError ? "syntax" : "rules_throw";
        if (!Object.keys(reached).length) note(code, `${what}: ${error}`);
        return undefined;
      }
    };
    game = guarded("loading", () => instance(source, reached));
    if (!game) return result();
    const everySeen = new Set();

    function play(number) {
      const task = options.tasks[number % options.tasks.length], draw = drawn(number * 7919 + 13), often = drawn(number);
      const checks = options.checks && number < CHECKED, { canonical } = game.replay;
      let state = guarded("start", () => game.replay.start(task));
      if (state === undefined) return "";
      let text = canonical(state), chain = sha256(text), step = 0;
      const shape = shapeFault(state, task);
      if (shape) return note("interface", shape), "";
      if (state.terminal.isTerminal) return note("interface", "the start is the end"), "";
      if (checks) {
        const fresh = guarded("start", () => instance(source, reached).replay.start(task));
        if (fresh === undefined || canonical(fresh) !== text) return note("hidden_state", "the start depends on what was played before"), "";
      }
      const history = [], resumeAt = checks ? often(12) : -1;
      let other = null, resumed = null;
      while (!state.terminal.isTerminal) {
        if (step >= options.bound) return note("no_end", `a random playout at level ${task.level} goes on after ${options.bound} moves`), "";
        const actions = guarded("actions", () => game.rules.actions(state));
        if (actions === undefined) return "";
        const wrong = actionsFault(actions, state);
        if (wrong) return note("interface", wrong), "";
        actions.forEach((action) => everySeen.size < 400 && everySeen.add(action));
        if (checks && step === resumeAt) {
          other = instance(source, reached);
          resumed = copy(state);
        }
        if (checks && often(3) === 0) illegal(state, text, actions);
        const action = actions[draw(actions.length)];
        const next = guarded(`step ${action}`, () => game.rules.step(state, action));
        if (next === undefined) return "";
        const after = canonical(next);
        if (checks || number < CHECKED) {
          const fault = shapeFault(next, task);
          if (fault) return note("interface", fault), "";
          if (canonical(state) !== text) return note("impure_step", `step changes the state it is given (${action})`), "";
          if (other) {
            resumed = guarded("step", () => other.rules.step(resumed, action));
            if (resumed === undefined || canonical(resumed) !== after) {
              return note("hidden_state", `continued from its state, the game goes another way (${action})`), "";
            }
          }
        }
        const quiet = (game.rules.noops ?? []).includes(action);
        if (after === text && !quiet) return note("legal_move_without_effect", `the legal move ${action} changes nothing`), "";
        state = next;
        text = after;
        history.push(action);
        chain = sha256(`${chain} ${action} ${text}`);
        step++;
      }
      ended(state, text);
      return summed(task, state, history, chain);
    }

    function illegal(state, text, actions) {
      const tries = [...NONSENSE, ...everySeen].filter((one) => !actions.includes(one));
      for (const action of tries) {
        const after = guarded(`an illegal step ${JSON.stringify(action)}`, () => game.rules.step(state, action));
        if (after === undefined) return;
        if (game.replay.canonical(after) !== text) note("illegal_move_accepted", `${JSON.stringify(action)} is not legal and changes the state`);
      }
    }

    function ended(state, text) {
      const actions = guarded("actions", () => game.rules.actions(state));
      if (actions?.length) note("move_after_end", `${actions[0]} is offered after the end`);
      for (const action of [...everySeen].slice(0, 40)) {
        const after = guarded("step after the end", () => game.rules.step(state, action));
        if (after === undefined || game.replay.canonical(after) === text) continue;
        const again = after.terminal && !after.terminal.isTerminal;
        note(again ? "auto_restart" : "move_after_end", again ? "a move after the end begins the game again" : `${action} changes the state after the end`);
      }
    }

    function summed(task, state, history, chain) {
      const level = (levels[task.level] ??= { count: 0, won: 0, steps: 0, score: 0, most: 0 });
      if (options.judge) {
        const said = guarded("verify", () => game.verify({ game: state, history, controls: {} }, task, null));
        if (said === undefined) return "";
        const fault = verdictFault(said, state);
        if (fault) return note("verifier_disagrees", fault), "";
        level.score += said.score;
      }
      level.count++;
      level.won += state.terminal.outcome === "won" ? 1 : 0;
      level.steps += history.length;
      level.most = Math.max(level.most, history.length);
      return chain;
    }

    function result() {
      for (const each of Object.keys(reached)) note(each.split(" ")[0], `the rules reach for ${each.split(" ")[1]}`);
      if (Object.keys(reached).length) delete faults.rules_throw;
      return { faults, levels, digest: sha256(chains.join(" ")), playouts: chains.filter(Boolean).length };
    }

    for (let i = 0; i < options.count && !Object.keys(faults).length; i++) {
      const number = options.backwards ? options.count - 1 - i : i;
      chains[number] = play(number);
    }
    return result();
  }

  return { sha256, hashed, playouts, derive, experts, forged, repeat };
})();

"use strict";
// The page of a made game: keeps the state and the moves, and turns clicks and keys into moves.

const madeGame = (() => {
  const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", " ": "space", Enter: "enter" };
  let page, state, history, again;

  function setup(task) {
    state = replay.start(task);
    history = [];
    game.title(page.title);
    if (page.scene) again = solids.scene((solid, look) => page.scene(solid, look, state));
    else again = game.canvas((context, width, height) => page.draw(context, width, height, state)).again;
    show();
  }

  // Makes a legal move; others change nothing.
  function play(action) {
    if (!rules.actions(state).includes(action)) return;
    const next = rules.step(state, action);
    if (replay.canonical(next) === replay.canonical(state)) return;
    state = next;
    history.push(action);
    if (state.terminal.isTerminal) game.over(state.terminal.outcome === "won");
    show();
  }

  function show() {
    game.status(pilothouse.say(page.status(state)));
    again();
  }

  const boxes = () => (page.targets ? page.targets(state, game.stage.clientWidth, game.stage.clientHeight) : {});

  // How each move is made on the page: the middle of its box, or its key.
  function controls() {
    const { left, top } = game.stage.getBoundingClientRect(), found = {};
    for (const [key, action] of Object.entries(page.keys ?? {})) {
      found[action] = { kind: "press_keys", keys: [KEYS[key] ?? key] };
    }
    for (const [action, [x, y, width, height]] of Object.entries(boxes())) {
      found[action] = { kind: "click", x: Math.round(left + x + width / 2), y: Math.round(top + y + height / 2) };
    }
    return found;
  }

  function define(given) {
    page = given;
    game.stage.addEventListener("click", (event) => {
      const { left, top } = game.stage.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
      const inside = ([, [a, b, width, height]]) => x >= a && y >= b && x < a + width && y < b + height;
      const found = Object.entries(boxes()).find(inside);
      if (found) play(found[0]);
    });
    addEventListener("keydown", (event) => {
      const action = (page.keys ?? {})[event.key];
      if (!action) return;
      event.preventDefault();
      if (!event.repeat) play(action);
    });
    pilothouse.define({ setup, state: () => ({ game: state, history: history.slice(), controls: controls() }) });
  }

  return { define };
})();

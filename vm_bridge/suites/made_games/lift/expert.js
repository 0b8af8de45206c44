"use strict";

function choose(state) {
  const action = sensible(state);
  const said = {
    open: ["Somebody gets out or in here, so I open the doors.", "这里有人要进出，开门。"],
    up: ["The nearest floor that matters is above.", "最近要去的楼层在上面。"],
    down: ["The nearest floor that matters is below.", "最近要去的楼层在下面。"],
  };
  return { action, thought: { en: said[action][0], zh: said[action][1] } };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}

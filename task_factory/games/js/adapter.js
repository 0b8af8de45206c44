"use strict";
// Lets a page with `window.gameAPI` be played as a task: it is set up from the task, and its state is the task's.

(() => {
  const begin = () => pilothouse.define({
    setup(task) {
      const api = window.gameAPI, given = { seed: task.seed, level: task.level, ...task.slots };
      if (api.init) api.init(given);
      else api.reset(given);
    },
    state() {
      const { timestampMs, ...state } = JSON.parse(JSON.stringify(window.gameAPI.getState()));
      return state;
    },
  });
  if (window.gameAPI) begin();
  else addEventListener("DOMContentLoaded", begin);
})();

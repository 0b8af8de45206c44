"use strict";

function verify(state, task) {
  const points = ["score"].reduce((held, name) => (held || {})[name], state.game_state), goal = task.slots.goal;
  const { isTerminal, outcome } = state.terminal || {}, number = Number(points) || 0;
  const reached = number >= goal, success = reached || (!!isTerminal && ["win", "won", "success"].includes(outcome));
  return {
    success, failure: !!isTerminal && !success, done: success || !!isTerminal, level: task.level, points: number,
    score: success ? 1 : Math.max(0, Math.min(number / goal, 0.99)), reason: success ? "" : `the score is ${number} of ${goal}`,
  };
}

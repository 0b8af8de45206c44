"use strict";

function verify(state, task) {
  const { goal } = task.slots;
  const success = state.cleared >= goal, failure = !success && state.moves === 0 && !state.busy;
  return {
    success, failure, done: success || failure, level: task.level, points: state.cleared,
    score: success ? 1 : state.cleared / goal,
    reason: success ? "" : `${state.cleared} of ${goal} gems are cleared with ${state.moves} swaps left`,
  };
}

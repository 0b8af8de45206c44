"use strict";

function verify(state, task) {
  const { goal } = task.slots;
  const success = state.eaten >= goal, failure = !success && state.dead;
  return {
    success, failure, done: success || failure, level: task.level, points: state.eaten,
    score: success ? 1 : state.eaten / goal,
    reason: success ? "" : `${state.eaten} of ${goal} apples were eaten${state.dead ? ", then the snake ran into something" : ""}`,
  };
}

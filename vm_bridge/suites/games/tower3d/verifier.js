"use strict";

function verify(state, task) {
  const { goal } = task.slots, floors = state.slabs.length - 1;
  const success = floors >= goal, failure = !success && state.lost;
  return {
    success, failure, done: success || failure, level: task.level, points: floors, score: Math.min(1, floors / goal),
    reason: success ? "" : `${floors} of ${goal} floors stand${state.lost ? ", and a slab fell past the tower" : ""}`,
  };
}

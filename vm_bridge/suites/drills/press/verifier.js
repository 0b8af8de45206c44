// The first button that is pressed counts.
function verify(state, task) {
  const success = state.pressed === task.slots.names[0], failure = state.pressed !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right button was pressed" : failure ? "another button was pressed" : "nothing yet" };
}

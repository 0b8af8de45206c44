// The first link that is followed counts.
function verify(state, task) {
  const success = state.followed === task.slots.names[0], failure = state.followed !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: success ? "the right link was followed" : failure ? "another link was followed" : "nothing yet" };
}

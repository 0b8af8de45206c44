// What is ticked when OK is pressed is what was asked for, and nothing else.
function verify(state, task) {
  const asked = task.slots.names.slice(0, 2), { ticked, confirmed } = state;
  const right = asked.filter((name) => ticked.includes(name)).length, wrong = ticked.length - right;
  const success = confirmed && right === asked.length && wrong === 0, failure = confirmed && !success;
  return { success, failure, score: success ? 1 : failure ? 0 : Math.max(0, (right - wrong) * 0.4), level: task.level, done: confirmed, reason: `${right} of ${asked.length} ticked, ${wrong} others${confirmed ? ", confirmed" : ""}` };
}

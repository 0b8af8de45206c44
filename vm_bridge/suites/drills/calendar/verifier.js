// The first day that is chosen counts, in the month that is asked for.
function verify(state, task) {
  const { chosen } = state, { day } = task.slots;
  const success = chosen !== null && chosen.day === day && chosen.month === task.picks.month, failure = chosen !== null && !success;
  return { success, failure, score: success ? 1 : 0, level: task.level, done: success || failure, reason: chosen === null ? "nothing yet" : `day ${chosen.day} of month ${chosen.month + 1} was chosen` };
}

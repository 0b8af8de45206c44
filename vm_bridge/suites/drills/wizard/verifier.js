// Both choices are as asked when it is finished.
function verify(state, task) {
  const asked = task.slots.names.slice(0, 2), { finished, chosen } = state;
  const right = asked.filter((name, i) => chosen[i] === name).length;
  const success = finished !== null && finished.every((name, i) => name === asked[i]), failure = finished !== null && !success;
  return { success, failure, score: success ? 1 : failure ? 0 : right * 0.4, level: task.level, done: success || failure, reason: `${right} of 2 chosen as asked${finished ? ", finished" : ""}` };
}

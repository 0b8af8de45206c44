// The one asked for has its number, and no other was changed.
function verify(state, task) {
  const [name] = task.slots.names, { goal } = task.slots, asked = state.lines.find((line) => line.name === name);
  const spoilt = state.lines.filter((line) => line.name !== name && line.value !== line.before).length;
  const success = asked.value === goal && spoilt === 0, way = Math.abs(asked.before - goal);
  const score = success ? 1 : spoilt ? 0 : Math.max(0, 1 - Math.abs(asked.value - goal) / way) * 0.8;
  return { success, failure: false, score, level: task.level, done: success, reason: `it is ${asked.value} of ${goal}, ${spoilt} others changed` };
}

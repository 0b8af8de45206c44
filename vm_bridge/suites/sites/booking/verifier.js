// There is one appointment, and it is the one asked for.
function wish(state, task) {
  const { service, day, time, who, weekday } = task.slots, next = state.first + 1;
  if (task.level === 1) return { month: state.first, day, time, service };
  if (task.level === 2) return { month: next, day, time, service, who };
  const times = ["13:00", "13:45", "14:30", "15:15", "16:00"];
  for (let d = 1; d <= 31; d++) {
    const date = new Date(Date.UTC(state.year, next, d));
    if (date.getUTCMonth() !== next || (date.getUTCDay() + 6) % 7 !== task.picks.weekday) continue;
    const free = times.find((v) => !state.taken[`${next}-${d}`].includes(v));
    if (free) return { month: next, day: d, time: free, service, who };
  }
  throw new Error(`no ${weekday} is free`);
}

function verify(state, task) {
  const wanted = wish(state, task), names = Object.keys(wanted);
  const right = (b) => names.filter((name) => b[name] === wanted[name]).length;
  const best = Math.max(right(state), ...state.bookings.map(right));
  const success = state.bookings.length === 1 && right(state.bookings[0]) === names.length;
  return { success, failure: false, score: success ? 1 : (best / names.length) * 0.7, level: task.level, done: success, reason: `${state.bookings.length} appointments; at best ${best} of ${names.length} particulars are right` };
}

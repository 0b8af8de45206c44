// The server keeps one reservation: the earliest trip to the town, with the right number of seats.
function verify(state, task) {
  const { town, seats } = task.slots, level = task.level;
  const first = state.trips.filter((one) => one.town === town).sort((a, b) => (a.time < b.time ? -1 : 1))[0].id;
  const right = (one) => one.id === first && one.seats === seats;
  const failure = state.kept.some((one) => !right(one)) || state.kept.length > 1;
  const seen = level < 3 || (state.listed ?? []).some(right);
  const success = !failure && state.kept.length === 1 && seen;
  const score = success ? 1 : failure ? 0 : state.kept.length ? 0.7 : (state.chosen === first ? 0.2 : 0) + (state.seats === seats ? 0.2 : 0);
  return { success, failure, score, level, done: success || failure, reason: `the server keeps ${state.kept.length} reservations${failure ? ", not the one asked for" : ""}` };
}

// The place is the one favourite; or the route asked for is under way, and its length was answered.
function verify(state, task, answer) {
  const { stops, mode } = task.picks, level = task.level, [a, b, c] = stops;
  if (level === 1) {
    const has = state.favourites.includes(a), others = state.favourites.length - (has ? 1 : 0), success = has && others === 0;
    return { success, failure: false, score: success ? 1 : state.chosen === a ? 0.5 : 0, level, done: success, reason: `${state.favourites.length} favourites, ${others} of them wrong` };
  }
  const wish = { from: a, via: level === 2 ? null : b, to: level === 2 ? b : c, mode: ["foot", "bicycle", "car"][mode] };
  const keys = Object.keys(wish), right = (route) => keys.filter((key) => route[key] === wish[key]).length;
  const last = state.started.at(-1), under = last !== undefined && right(last) === keys.length;
  if (level === 2) return { success: under, failure: false, score: under ? 1 : (right(state.route) / keys.length) * 0.7, level, done: under, reason: last ? `${right(last)} of ${keys.length} particulars of the route are right` : "no route was started" };
  const given = (answer ?? "").trim().toLowerCase().replace(/[.。]$/, "").replace(/\s*(km|kilometres|kilometers|公里)$/, "");
  const success = under && answer !== null && given === String(last.km);
  return { success, failure: answer !== null && !success, score: success ? 1 : under ? 0.6 : (right(state.route) / keys.length) * 0.4, level, done: answer !== null, reason: answer === null ? "no answer was given yet" : success ? "route and answer are right" : "the answer or the route is wrong" };
}

// The answer is what the chain of articles says; having read the way there is worth something, but no success.
function chainOf(state, task) {
  const of = (id) => state.facts[id.split("-")[0]][Number(id.split("-")[1])];
  if (task.level === 1) {
    const person = `person-${task.picks.who}`, town = of(person).town;
    return { way: [person, town], truth: String(of(town).year) };
  }
  const work = `work-${task.picks.work}`, author = of(work).author, who = task.level === 2 ? author : of(author).teacher;
  const town = of(who).town, river = of(town).river, bridge = of(river).bridge;
  if (task.level === 2) return { way: [work, author, town, river], truth: String(of(river).length) };
  return { way: [work, author, who, town, river, bridge], truth: state.titles[of(bridge).builder] };
}

function verify(state, task, answer) {
  const { way, truth } = chainOf(state, task);
  const given = (answer ?? "").trim().toLowerCase().replace(/[.。]$/, "").replace(/\s*(km|kilometres|kilometers|公里|年)$/, "");
  const success = answer !== null && given === truth.toLowerCase();
  const read = way.filter((id) => state.read.includes(id)).length / way.length;
  return { success, failure: answer !== null && !success, score: success ? 1 : read * 0.5, level: task.level, done: answer !== null, reason: answer === null ? "no answer was given yet" : success ? "the answer is right" : "the answer is wrong" };
}

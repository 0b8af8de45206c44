// Presses the next one.
function advise(state, task) {
  const hands = handsOf(state), asked = task.slots.names.slice(0, 3), next = asked[state.pressed.length];
  if (next === undefined || state.pressed.some((name, i) => name !== asked[i])) return done(hands);
  return hands.click(next, `“${next}” comes next; I press it.`, `接下来是“${next}”，按下它。`);
}

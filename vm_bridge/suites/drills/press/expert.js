// Presses the one that is asked for.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.pressed !== null) return done(hands);
  return hands.click(name, `The button “${name}” is there; I press it.`, `找到了“${name}”按钮，按下它。`);
}

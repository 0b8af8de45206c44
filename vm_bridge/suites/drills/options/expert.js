// Chooses, and confirms.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.confirmed !== null) return done(hands);
  if (state.chosen !== name) return hands.click(name, `I choose “${name}”.`, `选择“${name}”。`);
  return hands.click("confirm", `“${name}” is chosen; I confirm.`, `已选中“${name}”，确认。`);
}

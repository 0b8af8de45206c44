// Clicks the cross of the label that is to go.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names;
  if (state.removed !== null) return done(hands);
  return hands.click(name, `“${name}” is to go; I click its cross.`, `要移除“${name}”，点击它的叉号。`);
}

// Opens the field of the one asked for, writes the new name, and saves.
function advise(state, task) {
  const hands = handsOf(state), [from, to] = task.slots.names;
  if (state.saved !== null) return done(hands);
  if (state.editing !== from) return hands.click(from, `I click “${from}” to rename it.`, `点击“${from}”来重命名。`);
  if (state.text !== to) return hands.fill("name", state.text, to, { en: "the new name", zh: "新名称" });
  return hands.click("save", "The new name is there; I save it.", "新名称已填好，保存。");
}

// Deletes what is wrong, enters the next digit, and confirms.
function advise(state, task) {
  const hands = handsOf(state), code = String(task.slots.code), { entered } = state;
  if (state.confirmed !== null) return done(hands);
  if (!code.startsWith(entered)) return hands.click("back", "The last digit is wrong; I delete it.", "最后一位不对，删除它。");
  if (entered === code) return hands.click("ok", "The code is entered; I press OK.", "密码已输入，按“好”。");
  const next = code[entered.length];
  return hands.click(`key-${next}`, `The next digit is ${next}.`, `下一位是${next}。`);
}

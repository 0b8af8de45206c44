// Puts right what was changed by mistake, then goes one up or down.
function advise(state, task) {
  const hands = handsOf(state), [name] = task.slots.names, { goal } = task.slots;
  const wish = (line) => (line.name === name ? goal : line.before);
  const line = state.lines.find((one) => one.name !== name && one.value !== one.before) ?? state.lines.find((one) => one.value !== wish(one));
  if (!line) return done(hands);
  const up = line.value < wish(line);
  return hands.click(`${up ? "more" : "less"}-${line.name}`, `“${line.name}” is ${line.value}, it should be ${wish(line)}.`, `“${line.name}”现在是 ${line.value}，应为 ${wish(line)}。`);
}

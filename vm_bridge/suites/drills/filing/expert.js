// Drags the file into its folder.
function advise(state, task) {
  const hands = handsOf(state), [file, folder] = task.slots.names;
  if (state.filed !== null) return done(hands);
  const place = ({ x, y }) => ({ x, y });
  return hands.drag(place(hands.parts[file]), place(hands.parts[folder]), `I drag “${file}” into “${folder}”.`, `把“${file}”拖进“${folder}”。`);
}

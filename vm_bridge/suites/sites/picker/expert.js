// Takes wrong attachments away, walks through the folders, marks the files, attaches and sends.
function advise(state, task) {
  const hands = handsOf(state), { top, sub, file } = task.slots, place = task.level === 1 ? [top] : [top, sub];
  const here = place.reduce((at, name) => at.folders.find((f) => f.name === name), state.tree);
  const best = (value) => here.files.reduce((a, b) => (value(b) > value(a) ? b : a));
  const wanted = task.level < 3 ? here.files.filter((f) => f.name.split(".")[0] === file) : [best((f) => f.size), best((f) => f.date)];
  const keys = [...new Set(wanted.map((f) => [...place, f.name].join("/")))];
  if (!state.open) {
    const stray = state.attached.find((at) => !keys.includes(at));
    if (state.sent.length && !stray && state.sent.at(-1).length === keys.length) return done(hands);
    if (stray) return hands.click(`remove-${stray}`, "This attachment is not wanted; I remove it.", "这个附件不需要，移除它。");
    if (keys.every((key) => state.attached.includes(key))) return hands.click("send", "The right files are attached; I send.", "附件齐了，发送。");
    return hands.click("attach", "I open the file dialog.", "打开文件对话框。");
  }
  const shared = state.place.findIndex((name, i) => name !== place[i]);
  if (shared >= 0) return hands.click(`crumb-${shared}`, "This is another folder; I go up.", "不在这个文件夹，返回上层。");
  if (state.place.length < place.length) return hands.click(`folder-${place[state.place.length]}`, `I open the folder ${place[state.place.length]}.`, `打开文件夹“${place[state.place.length]}”。`);
  const next = wanted.find((f) => !state.marked.includes([...place, f.name].join("/")));
  if (next) return hands.click(`file-${next.name}`, task.level < 3 ? `Here is ${next.name}.` : `${next.name} has ${next.size} KB and is of ${next.date}: I mark it.`, task.level < 3 ? `找到了 ${next.name}。` : `${next.name} 大小 ${next.size} KB，日期 ${next.date}，选中它。`);
  return hands.click("take", "The files are marked; I attach them.", "文件已选好，添加。");
}

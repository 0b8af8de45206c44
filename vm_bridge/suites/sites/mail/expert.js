// Searches by the sender, opens the right message, answers or forwards, attaches, archives.
function advise(state, task) {
  const hands = handsOf(state), { people, topic, text, file } = task.slots, level = task.level, answered = level === 2 || level === 4;
  const mail = state.mails.find((one) => one.from === people[0] && one.about === topic), { draft } = state;
  const written = level === 1 || state.sent.length > 0, kind = answered ? "reply" : "forward";
  if (written && (answered || mail.folder === "archive")) return done(hands);
  if (state.path[0] === "mail" && Number(state.path[1]) === mail.id) {
    if (written) return hands.click("archive", "It is dealt with; I archive it.", "已处理，归档。");
    if (!draft || draft.kind !== kind) return hands.click(kind, kind === "reply" ? "This is the message; I reply." : "This is the message; I forward it.", kind === "reply" ? "就是这封，回复。" : "就是这封，转发。");
    if (kind === "forward" && draft.to !== people[1]) return hands.fill("to", draft.to, people[1], { en: "the receiver", zh: "收件人" });
    if (draft.text !== text) return hands.fill("text", draft.text, text, { en: "the message", zh: "内容" });
    if (level === 4 && draft.file?.name !== file) {
      if (!state.asked) return hands.click("attach", "A file belongs to it; I open the chooser.", "需要附件，打开文件选择。");
      return hands.advice(`The page asks for a file; I choose ${file}.`, `页面要求选择文件，选 ${file}。`, { kind: "choose_files", files: [file] });
    }
    return hands.click("send", "Receiver and words are right; I send.", "收件人和内容都对，发送。");
  }
  if (hands.parts[`mail-${mail.id}`]?.shown || state.search === people[0]) return hands.click(`mail-${mail.id}`, `This one is from ${people[0]} about ${topic}.`, `这封是${people[0]}关于“${topic}”的。`);
  return hands.fill("search", state.search, people[0], { en: "the search field", zh: "搜索框" });
}

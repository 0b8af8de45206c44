// Searches by the sender, opens the right message, answers or forwards, archives.
function advise(state, task) {
  const hands = handsOf(state), { people, topic, text } = task.slots, level = task.level;
  const mail = state.mails.find((one) => one.from === people[0] && one.about === topic), { draft } = state;
  const written = level === 1 || state.sent.length > 0, kind = level === 2 ? "reply" : "forward";
  if (written && (level === 2 || mail.folder === "archive")) return done(hands);
  if (state.path[0] === "mail" && Number(state.path[1]) === mail.id) {
    if (written) return hands.click("archive", "It is dealt with; I archive it.", "已处理，归档。");
    if (!draft || draft.kind !== kind) return hands.click(kind, kind === "reply" ? "This is the message; I reply." : "This is the message; I forward it.", kind === "reply" ? "就是这封，回复。" : "就是这封，转发。");
    if (kind === "forward" && draft.to !== people[1]) return hands.fill("to", draft.to, people[1], { en: "the receiver", zh: "收件人" });
    if (draft.text !== text) return hands.fill("text", draft.text, text, { en: "the message", zh: "内容" });
    return hands.click("send", "Receiver and words are right; I send.", "收件人和内容都对，发送。");
  }
  if (hands.parts[`mail-${mail.id}`]?.shown || state.search === people[0]) return hands.click(`mail-${mail.id}`, `This one is from ${people[0]} about ${topic}.`, `这封是${people[0]}关于“${topic}”的。`);
  return hands.fill("search", state.search, people[0], { en: "the search field", zh: "搜索框" });
}

// The one message was archived, answered or sent on as asked, and no other was moved or answered.
function verify(state, task) {
  const { people, topic, text, file } = task.slots, level = task.level, answered = level === 2 || level === 4;
  const mail = state.mails.find((one) => one.from === people[0] && one.about === topic);
  const right = (s) => s.about === mail.id && s.text === text && (s.file?.name ?? "") === (level === 4 ? file : "") && (answered ? s.kind === "reply" && s.to === people[0] : s.kind === "forward" && s.to === people[1]);
  const moved = state.mails.filter((one) => one !== mail && one.folder !== state.before.find((b) => b.id === one.id).folder).length;
  const goals = [];
  if (level > 1) goals.push(state.sent.some(right));
  if (!answered) goals.push(mail.folder === "archive");
  const wrong = level === 1 ? state.sent.length : state.sent.filter((s) => !right(s)).length;
  const met = goals.filter(Boolean).length, failure = wrong > 0;
  const success = met === goals.length && moved === 0 && !failure && (!answered || mail.folder === "inbox");
  return { success, failure, score: success ? 1 : failure ? 0 : Math.max(0, (met / goals.length) * 0.8 - moved * 0.2), level, done: success || failure, reason: `${met} of ${goals.length} done, ${wrong} wrong messages sent, ${moved} others moved` };
}

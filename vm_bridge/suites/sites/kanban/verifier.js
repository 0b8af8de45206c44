// The card lies where it was to go, or the column is in order; the other cards keep their columns.
function verify(state, task) {
  const { level, picks } = task, to = picks.to, card = picks.cards[0];
  const column = state.columns[to], at = column.findIndex((one) => one.id === card);
  const homes = (columns) => Object.fromEntries(columns.flatMap((cards, i) => cards.map((one) => [one.id, i])));
  const now = homes(state.columns), then = homes(state.before);
  const strays = Object.keys(then).filter((id) => now[id] !== then[id] && !(level < 3 && Number(id) === card)).length;
  const ordered = column.filter((one, i) => i === 0 || column[i - 1].rank < one.rank).length;
  const parts = level === 1 ? [at >= 0] : level === 2 ? [at >= 0, at === 0] : column.map((_, i) => i < ordered);
  const met = parts.filter(Boolean).length;
  const success = met === parts.length && strays === 0 && state.held === null && (level < 3 || column.length === 4 && ordered === 4);
  const score = success ? 1 : Math.max(0, (met / parts.length) * 0.8 - strays * 0.2);
  return { success, failure: false, score, level, done: success, reason: `${met} of ${parts.length} met, ${strays} other cards have left their columns` };
}

"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, score, count }) => ({
    success: terminal.outcome === "won", failure: terminal.outcome === "lost", done: terminal.isTerminal,
    score: score / count, points: score, level: task.level,
    reason: terminal.outcome === "won" ? "" : `${count - score} pawns are left`,
  }));
}

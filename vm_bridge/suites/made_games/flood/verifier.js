"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, score, cells }) => ({
    success: terminal.outcome === "won", failure: terminal.outcome === "lost", done: terminal.isTerminal,
    score: score / cells.length, points: score, level: task.level,
    reason: terminal.outcome === "won" ? "" : `${cells.length - score} cells have another colour`,
  }));
}

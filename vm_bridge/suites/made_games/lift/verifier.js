"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, served, people }) => ({
    success: terminal.outcome === "won", failure: terminal.outcome === "lost", done: terminal.isTerminal,
    score: served / people, points: served, level: task.level,
    reason: terminal.outcome === "won" ? "" : `${people - served} people are not where they want to be`,
  }));
}

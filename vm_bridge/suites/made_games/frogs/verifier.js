"use strict";

function verify(state, task) {
  return judged(state, task, ({ terminal, leaves, frogs }) => {
    const { gone, whole } = progress(leaves, frogs);
    return {
      success: terminal.outcome === "won", failure: terminal.outcome === "lost", done: terminal.isTerminal,
      score: gone / whole, points: gone, level: task.level,
      reason: terminal.outcome === "won" ? "" : `${whole - gone} leaves are still to go`,
    };
  });
}

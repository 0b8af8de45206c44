/** What a refused command said goes back to the place where it was written. */
import type { Command } from "@/generated/vocabulary";

import type { DraftPlace, DraftStore, Texts } from "./drafts";

/** Gives the texts of a command back to their form, but never over what was written since; `step` is the one being made. */
export function giveBackTexts(drafts: DraftStore, episodeId: string, step: number, command: Command): void {
  const refused = textsOf(command, step);
  if (refused === null) return;
  drafts.saveTexts(episodeId, refused.place, { ...refused.texts, ...drafts.loadTexts(episodeId, refused.place) });
}

function textsOf(command: Command, step: number): { place: DraftPlace; texts: Texts } | null {
  switch (command.type) {
    case "finish": {
      const { outcome, answer, reason } = command;
      if (answer === "" && reason === "") return null;
      return outcome === "infeasible" ? { place: "infeasible", texts: { reason } } : { place: "finish", texts: { answer, reason } };
    }
    case "help":
      return { place: "help", texts: { message: command.message } };
    case "takeover":
      return command.thought === "" ? null : { place: `takeover.${step}`, texts: { thought: command.thought } };
    case "leave":
      return command.reason === "" ? null : { place: "leave", texts: { reason: command.reason } };
    case "thought":
      return { place: "thoughts", texts: { [command.index]: command.thought } };
    case "remember":
      return { place: `memory.${command.through}`, texts: { text: command.text } };
    default:
      return null;
  }
}

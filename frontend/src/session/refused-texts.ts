/** What a refused command said goes back to the place where it was written. */
import type { Command } from "@/generated/vocabulary";

import type { DraftPlace, DraftStore, Texts } from "./drafts";

/** Gives the texts of a command back to their form, but never over what was written since. */
export function giveBackTexts(drafts: DraftStore, episodeId: string, command: Command): void {
  const refused = textsOf(command);
  if (refused === null) return;
  drafts.saveTexts(episodeId, refused.place, { ...refused.texts, ...drafts.loadTexts(episodeId, refused.place) });
}

function textsOf(command: Command): { place: DraftPlace; texts: Texts } | null {
  switch (command.type) {
    case "finish": {
      const { outcome, answer, reason } = command;
      return answer === "" && reason === "" ? null : { place: "finish", texts: { outcome, answer, reason } };
    }
    case "help":
      return { place: "help", texts: { message: command.message } };
    case "takeover":
      return command.thought === "" ? null : { place: "takeover", texts: { thought: command.thought } };
    case "leave":
      return command.reason === "" ? null : { place: "leave", texts: { how: command.how, reason: command.reason } };
    case "thought":
      return { place: "thoughts", texts: { [command.index]: command.thought } };
    case "remember":
      return { place: `memory.${command.through}`, texts: { text: command.text } };
    default:
      return null;
  }
}

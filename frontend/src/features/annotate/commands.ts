/** Every command of the desk: name, help and default keys. What they do is bound where the desk is open. */
import type { Command } from "@/shared/commands/command";

import { browserCommands } from "@/features/annotate/browser/commands";
import type { PanelName } from "./panels/panels";
import { phoneCommands } from "@/features/annotate/phone/commands";

const workspaceCommand = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.${verb}`, scope: "desk", ...rest });

/** Enter does what was composed, and accepts the first candidate where nothing was. */
export const submitStep = workspaceCommand("do", { name: "desk.do", help: "desk.do.help", keys: ["Enter"] });
export const clear = workspaceCommand("clear", { name: "desk.clear", help: "desk.clear.help", keys: ["Escape"] });

export const accept: readonly Command[] = (
  [
    "desk.accept_1",
    "desk.accept_2",
    "desk.accept_3",
    "desk.accept_4",
    "desk.accept_5",
    "desk.accept_6",
    "desk.accept_7",
    "desk.accept_8",
    "desk.accept_9",
  ] as const
).map((name, index) => workspaceCommand(`accept_${index + 1}`, { name, help: "desk.accept.help", keys: [String(index + 1)] }));

export const edit: readonly Command[] = (
  ["desk.edit_1", "desk.edit_2", "desk.edit_3", "desk.edit_4", "desk.edit_5"] as const
).map((name, index) => workspaceCommand(`edit_${index + 1}`, { name, help: "desk.edit.help", keys: [`Shift+${index + 1}`] }));

export const mark: readonly Command[] = (
  ["desk.mark_1", "desk.mark_2", "desk.mark_3", "desk.mark_4", "desk.mark_5"] as const
).map((name, index) => workspaceCommand(`mark_${index + 1}`, { name, help: "desk.mark.help", keys: [`Alt+${index + 1}`] }));

export const resample = workspaceCommand("resample", { name: "desk.resample", help: "desk.resample.help", keys: ["R"] });
export const prompt = workspaceCommand("prompt", { name: "desk.prompt", help: "desk.prompt.help", keys: ["Shift+P"] });
export const notes = workspaceCommand("notes", { name: "desk.notes", help: "desk.notes.help", keys: ["Shift+N"] });
export const override = workspaceCommand("override", { name: "desk.override", help: "desk.override.help", keys: ["O", "/"] });
export const thought = workspaceCommand("thought", { name: "desk.thought", help: "desk.thought.help", keys: ["E"] });
export const point = workspaceCommand("point", { name: "desk.point", help: "desk.point.help", keys: ["V"] });
export const typeText = workspaceCommand("type", { name: "desk.type", help: "desk.type.help", keys: ["I"] });
export const hotkey = workspaceCommand("hotkey", { name: "desk.hotkey", help: "desk.hotkey.help", keys: ["K"] });
export const clipboard = workspaceCommand("clipboard", { name: "desk.clipboard", help: "desk.clipboard.help", keys: ["C"] });
export const direct = workspaceCommand("direct", { name: "desk.direct", help: "desk.direct.help", keys: ["D"] });
export const takeover = workspaceCommand("takeover", { name: "desk.takeover", help: "desk.takeover.help", keys: ["T"] });
export const autopilot = workspaceCommand("autopilot", { name: "desk.autopilot", help: "desk.autopilot.help", keys: ["A"] });
export const undo = workspaceCommand("undo", { name: "desk.undo", help: "desk.undo.help", keys: ["U"] });
export const skipSettle = workspaceCommand("hurry", { name: "desk.hurry", help: "desk.hurry.help", keys: ["Y"] });
export const finish = workspaceCommand("finish", { name: "desk.finish", help: "desk.finish.help", keys: ["F"] });
export const infeasible = workspaceCommand("infeasible", { name: "desk.infeasible", help: "desk.infeasible.help", keys: ["X"] });
export const callHelp = workspaceCommand("help", { name: "desk.call_help", help: "desk.call_help.help", keys: ["H"] });
export const leave = workspaceCommand("leave", { name: "desk.leave", help: "desk.leave.help", keys: ["L"] });
export const pause = workspaceCommand("pause", { name: "desk.pause", help: "desk.pause.help", keys: ["P"] });
export const control = workspaceCommand("control", { name: "desk.control", help: "desk.control.help", keys: ["G"] });
export const next = workspaceCommand("next", { name: "desk.next", help: "desk.next.help", keys: ["N"] });
export const previousStep = workspaceCommand("previous_step", { name: "desk.previous_step", help: "desk.previous_step.help", keys: ["["], repeats: true });
export const nextStep = workspaceCommand("next_step", { name: "desk.next_step", help: "desk.next_step.help", keys: ["]"], repeats: true });
export const live = workspaceCommand("live", { name: "desk.live", help: "desk.live.help", keys: ["0"] });

/** One for each panel; the machine at hand may lack some. */
export const panels = {
  terminal: workspaceCommand("terminal", { name: "panel.terminal", help: "panel.terminal.help", keys: ["S"] }),
  files: workspaceCommand("files", { name: "panel.files", help: "panel.files.help", keys: ["B"] }),
  notebook: workspaceCommand("notebook", { name: "panel.notebook", help: "panel.notebook.help", keys: ["J"] }),
  tools: workspaceCommand("tools", { name: "panel.tools", help: "panel.tools.help", keys: ["W"] }),
  preview: workspaceCommand("preview", { name: "panel.preview", help: "panel.preview.help", keys: ["Z"] }),
} satisfies Record<PanelName, Command>;

export const workspaceCommands: readonly Command[] = [
  submitStep,
  clear,
  ...accept,
  ...edit,
  ...mark,
  resample,
  prompt,
  notes,
  override,
  thought,
  point,
  typeText,
  hotkey,
  clipboard,
  direct,
  takeover,
  autopilot,
  undo,
  skipSettle,
  finish,
  infeasible,
  callHelp,
  leave,
  pause,
  control,
  next,
  previousStep,
  nextStep,
  live,
  ...Object.values(panels),
  ...phoneCommands,
  ...browserCommands,
];

/** Every command of the workspace: name, help and default keys. `use-workspace-commands` binds what they do. Key maps store the ids (`desk.…`). */
import type { HoldableKey } from "@/shared/actions/held";
import type { Command } from "@/shared/commands/command";

import { browserCommands } from "@/features/annotate/browser/commands";
import type { PanelName } from "./panels/panels";
import { phoneCommands } from "@/features/annotate/phone/commands";

const workspaceCommand = (verb: string, rest: Omit<Command, "id" | "scope">): Command => ({ id: `desk.${verb}`, scope: "workspace", ...rest });

/** Enter does what was composed, and accepts the first candidate where nothing was. */
export const submitStep = workspaceCommand("do", { name: "workspace.do", help: "workspace.do.help", keys: ["Enter"] });
export const clear = workspaceCommand("clear", { name: "workspace.clear", help: "workspace.clear.help", keys: ["Escape"] });

export const accept: readonly Command[] = (
  [
    "workspace.accept_1",
    "workspace.accept_2",
    "workspace.accept_3",
    "workspace.accept_4",
    "workspace.accept_5",
    "workspace.accept_6",
    "workspace.accept_7",
    "workspace.accept_8",
    "workspace.accept_9",
  ] as const
).map((name, index) => workspaceCommand(`accept_${index + 1}`, { name, help: "workspace.accept.help", keys: [String(index + 1)] }));

export const edit: readonly Command[] = (
  ["workspace.edit_1", "workspace.edit_2", "workspace.edit_3", "workspace.edit_4", "workspace.edit_5"] as const
).map((name, index) => workspaceCommand(`edit_${index + 1}`, { name, help: "workspace.edit.help", keys: [`Shift+${index + 1}`] }));

export const mark: readonly Command[] = (
  ["workspace.mark_1", "workspace.mark_2", "workspace.mark_3", "workspace.mark_4", "workspace.mark_5"] as const
).map((name, index) => workspaceCommand(`mark_${index + 1}`, { name, help: "workspace.mark.help", keys: [`Alt+${index + 1}`] }));

export const fewerActions = workspaceCommand("fewer_actions", { name: "workspace.fewer_actions", help: "workspace.fewer_actions.help", keys: ["-"] });
export const moreActions = workspaceCommand("more_actions", { name: "workspace.more_actions", help: "workspace.more_actions.help", keys: ["+"] });
export const resample = workspaceCommand("resample", { name: "workspace.resample", help: "workspace.resample.help", keys: ["R"] });
export const prompt = workspaceCommand("prompt", { name: "workspace.prompt", help: "workspace.prompt.help", keys: ["Shift+P"] });
export const notes = workspaceCommand("notes", { name: "workspace.notes", help: "workspace.notes.help", keys: ["Shift+N"] });
export const override = workspaceCommand("override", { name: "workspace.override", help: "workspace.override.help", keys: ["O", "/"] });
export const thought = workspaceCommand("thought", { name: "workspace.thought", help: "workspace.thought.help", keys: ["E"] });
export const owedThoughts = workspaceCommand("owed_thoughts", { name: "workspace.owed_thoughts", help: "workspace.owed_thoughts.help", keys: ["Shift+E"] });
export const point = workspaceCommand("point", { name: "workspace.point", help: "workspace.point.help", keys: ["V"] });
export const typeText = workspaceCommand("type", { name: "workspace.type", help: "workspace.type.help", keys: ["I"] });
export const hotkey = workspaceCommand("hotkey", { name: "workspace.hotkey", help: "workspace.hotkey.help", keys: ["K"] });
export const pressKey = workspaceCommand("press_key", { name: "workspace.press_key", help: "workspace.press_key.help", keys: ["Shift+K"] });
export const releaseKey = workspaceCommand("release_key", { name: "workspace.release_key", help: "workspace.release_key.help", keys: ["Alt+K"] });

/** One for each key that can be held during a click, drag or scroll. */
export const holdKeys = {
  ctrl: workspaceCommand("hold_ctrl", { name: "workspace.hold_ctrl", help: "workspace.hold.help", keys: ["Shift+C"] }),
  shift: workspaceCommand("hold_shift", { name: "workspace.hold_shift", help: "workspace.hold.help", keys: ["Shift+S"] }),
  alt: workspaceCommand("hold_alt", { name: "workspace.hold_alt", help: "workspace.hold.help", keys: ["Shift+A"] }),
  super: workspaceCommand("hold_super", { name: "workspace.hold_super", help: "workspace.hold.help", keys: ["Shift+W"] }),
} satisfies Record<HoldableKey, Command>;
export const clipboard = workspaceCommand("clipboard", { name: "workspace.clipboard", help: "workspace.clipboard.help", keys: ["C"] });
export const direct = workspaceCommand("direct", { name: "workspace.direct", help: "workspace.direct.help", keys: ["D"] });
export const takeover = workspaceCommand("takeover", { name: "workspace.takeover", help: "workspace.takeover.help", keys: ["T"] });
export const autopilot = workspaceCommand("autopilot", { name: "workspace.autopilot", help: "workspace.autopilot.help", keys: ["A"] });
export const undo = workspaceCommand("undo", { name: "workspace.undo", help: "workspace.undo.help", keys: ["U"] });
export const skipSettle = workspaceCommand("hurry", { name: "workspace.skip_settle", help: "workspace.skip_settle.help", keys: ["Y"] });
export const finish = workspaceCommand("finish", { name: "workspace.finish", help: "workspace.finish.help", keys: ["F"] });
export const infeasible = workspaceCommand("infeasible", { name: "workspace.infeasible", help: "workspace.infeasible.help", keys: ["X"] });
export const callHelp = workspaceCommand("help", { name: "workspace.call_help", help: "workspace.call_help.help", keys: ["H"] });
export const leave = workspaceCommand("leave", { name: "workspace.leave", help: "workspace.leave.help", keys: ["L"] });
export const pause = workspaceCommand("pause", { name: "workspace.pause", help: "workspace.pause.help", keys: ["P"] });
export const control = workspaceCommand("control", { name: "workspace.control", help: "workspace.control.help", keys: ["G"] });
export const next = workspaceCommand("next", { name: "workspace.next", help: "workspace.next.help", keys: ["N"] });
export const markers = workspaceCommand("markers", { name: "workspace.markers", help: "workspace.markers.help", keys: ["Shift+H"] });
export const previousStep = workspaceCommand("previous_step", { name: "workspace.previous_step", help: "workspace.previous_step.help", keys: ["["], repeats: true });
export const nextStep = workspaceCommand("next_step", { name: "workspace.next_step", help: "workspace.next_step.help", keys: ["]"], repeats: true });
export const live = workspaceCommand("live", { name: "workspace.live", help: "workspace.live.help", keys: ["0"] });

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
  fewerActions,
  moreActions,
  resample,
  prompt,
  notes,
  override,
  thought,
  point,
  typeText,
  hotkey,
  pressKey,
  releaseKey,
  ...Object.values(holdKeys),
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
  markers,
  previousStep,
  nextStep,
  live,
  ...Object.values(panels),
  ...phoneCommands,
  ...browserCommands,
];

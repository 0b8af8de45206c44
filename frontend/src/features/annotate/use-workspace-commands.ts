/** What every command of the workspace does, and when it is enabled. */
import type { EpisodeState } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { HOLDABLE_KEYS } from "@/shared/actions/held";
import type { Binding } from "@/shared/commands/command";
import { needsThoughtFirst } from "@/shared/steps";
import { EMPTY_DRAFT, isEmpty } from "@/session/drafts";

import * as commands from "./commands";
import { mostActions } from "./composer";
import { hasScreen, PANELS, availablePanels } from "@/features/annotate/panels/panels";
import { nextMark, type Workspace } from "./use-workspace";
import { useAutopilotStop } from "./use-autopilot-stop";
import { undoProblem } from "./undo";
import { useNextTask } from "./use-next-task";

export function useWorkspaceCommands(workspace: Workspace): void {
  useAutopilotStop(workspace);
  const { claimNext } = useNextTask(workspace.episode.id);
  const takingOver = workspace.episode.takeover && workspace.canAct;
  useCommands([
    ...proposalBindings(workspace),
    ...composerBindings(workspace),
    ...episodeBindings(workspace),
    ...timelineBindings(workspace),
    ...panelBindings(workspace),
    { command: commands.next, enabled: hasEnded(workspace), run: claimNext },
  ].map((binding): Binding => (takingOver ? { ...binding, enabled: false } : binding)));
}

function hasEnded({ episode: { status } }: Workspace): boolean {
  return status === "finished" || status === "left" || status === "failed";
}

/** Whether the task is the person's still, and they can give it back. A failed episode holds it. */
export const isHeld = ({ status }: EpisodeState): boolean => status !== "finished" && status !== "left";

function proposalBindings(workspace: Workspace): Binding[] {
  const { proposals } = workspace.episode;
  const most = mostActions(workspace.episode);
  const limit = Math.min(workspace.actionLimit ?? most, most);
  const ranked = (index: number) => proposals.find(({ rank }) => rank === index + 1);
  return [
    ...commands.accept.map((command, index): Binding => ({
      command,
      enabled: workspace.canAccept(ranked(index)),
      run: () => workspace.accept(ranked(index)),
    })),
    ...commands.edit.map((command, index): Binding => ({
      command,
      enabled: workspace.canAct && ranked(index) !== undefined,
      run: () => workspace.edit(ranked(index)),
    })),
    ...commands.mark.map((command, index): Binding => ({
      command,
      enabled: workspace.canAct && ranked(index) !== undefined,
      run: () => workspace.mark(ranked(index), nextMark(ranked(index)?.mark ?? null)),
    })),
    { command: commands.fewerActions, enabled: workspace.canAct && limit > 1, run: () => workspace.setActionLimit(limit - 1) },
    { command: commands.moreActions, enabled: workspace.canAct && limit < most, run: () => workspace.setActionLimit(limit + 1 < most ? limit + 1 : null) },
    { command: commands.prompt, run: () => workspace.setDialog("prompt") },
    { command: commands.notes, run: () => workspace.setDialog("notes") },
    { command: commands.resample, enabled: workspace.canAct && workspace.episode.thinking !== "off", run: () => workspace.send({ type: "resample" }) },
  ];
}

function composerBindings(workspace: Workspace): Binding[] {
  const can = (kind: string) => workspace.canAct && workspace.episode.capabilities.includes(kind);
  return [
    { command: commands.submitStep, enabled: workspace.enter.does !== "nothing", run: workspace.submitStep },
    { command: commands.clear, run: () => cancelNearest(workspace) },
    { command: commands.override, enabled: workspace.canAct, run: () => workspace.focusOn(workspace.commandLineRef) },
    { command: commands.thought, enabled: workspace.canAct, run: () => workspace.focusOn(workspace.thoughtRef) },
    { command: commands.owedThoughts, enabled: workspace.canWriteThoughts && workspace.owed.length > 0, run: () => workspace.setDialog("thoughts") },
    { command: commands.point, run: () => workspace.focusOn(workspace.viewportRef) },
    { command: commands.typeText, enabled: can("type_text"), run: () => workspace.setMode("type") },
    { command: commands.hotkey, enabled: can("press_keys"), run: () => workspace.setMode("hotkey") },
    { command: commands.pressKey, enabled: can("press"), run: () => workspace.setMode("press") },
    { command: commands.releaseKey, enabled: can("release"), run: () => workspace.setMode("release") },
    ...HOLDABLE_KEYS.map((key): Binding => ({
      command: commands.holdKeys[key],
      enabled: can("mouse_click"),
      run: () => workspace.toggleHeldKey(key),
    })),
    { command: commands.clipboard, enabled: can("set_clipboard") || can("get_clipboard"), run: () => workspace.setDialog("clipboard") },
    { command: commands.markers, run: workspace.toggleMarkers },
    { command: commands.direct, enabled: !needsThoughtFirst(workspace.episode), run: workspace.toggleDirect },
  ];
}

function panelBindings(workspace: Workspace): Binding[] {
  const available = availablePanels(workspace.episode);
  return PANELS.map((name) => ({ command: commands.panels[name], enabled: available.includes(name), run: () => workspace.showPanel(name) }));
}

/** Escape ends the first of these that is active: the view of an earlier step, a typing mode, a refusal, the draft, the panel. `use-autopilot-stop` comes first. */
function cancelNearest(workspace: Workspace): void {
  if (workspace.viewedStep !== null) workspace.viewStep(null);
  else if (workspace.mode !== "point") workspace.setMode("point");
  else if (workspace.rejection !== null) workspace.session.dismiss();
  else if (!isEmpty(workspace.draft)) workspace.setDraft(EMPTY_DRAFT);
  else if (workspace.panel !== null && hasScreen(workspace.episode)) workspace.showPanel(null);
}

function episodeBindings(workspace: Workspace): Binding[] {
  const { episode, steps, canAct, send, setDialog } = workspace;
  const hasControl = workspace.view.control === "mine";
  const open = hasControl && (episode.status === "running" || episode.status === "paused");
  const problem = undoProblem(episode, steps);
  return [
    { command: commands.takeover, enabled: canAct && episode.capabilities.includes("gesture"), run: () => send({ type: "takeover", on: true, thought: "" }) },
    { command: commands.autopilot, enabled: canAct && episode.thinking !== "off", run: () => send({ type: "autopilot", on: !episode.autopilot }) },
    { command: commands.undo, enabled: canAct, run: () => (problem === null ? send({ type: "undo" }) : workspace.session.refuse(problem)) },
    { command: commands.skipSettle, enabled: canAct && episode.pending !== null, run: () => send({ type: "hurry" }) },
    { command: commands.finish, enabled: open, run: () => workspace.askOutcome("finish") },
    { command: commands.infeasible, enabled: open, run: () => workspace.askOutcome("infeasible") },
    { command: commands.callHelp, enabled: open, run: () => setDialog("help") },
    { command: commands.leave, enabled: hasControl && isHeld(episode), run: () => setDialog("leave") },
    { command: commands.pause, enabled: open, run: () => send({ type: "pause", on: episode.status === "running" }) },
    { command: commands.control, enabled: !hasControl && !hasEnded(workspace), run: () => send({ type: "control" }) },
  ];
}

function timelineBindings(workspace: Workspace): Binding[] {
  const count = workspace.episode.steps.length;
  const at = workspace.viewedStep ?? count;
  return [
    { command: commands.previousStep, enabled: at > 0, run: () => workspace.viewStep(at - 1) },
    { command: commands.nextStep, enabled: workspace.viewedStep !== null, run: () => workspace.viewStep(at + 1 < count ? at + 1 : null) },
    { command: commands.live, enabled: workspace.viewedStep !== null, run: () => workspace.viewStep(null) },
  ];
}

/** What every command of the desk does, and when it can. */
import { useCommands } from "@/shared/commands/commands";
import type { Binding } from "@/shared/commands/command";
import { EMPTY_DRAFT, isEmpty } from "@/session/drafts";

import * as commands from "./commands";
import { hasScreen, PANELS, panelsOf } from "@/features/annotate/panels/panels";
import { nextMark, type Desk } from "./use-workspace";
import { useNextTask } from "./use-next-task";

export function useDeskCommands(desk: Desk): void {
  const { goOn } = useNextTask();
  const takingOver = desk.episode.takeover && desk.mine;
  useCommands([
    ...proposalBindings(desk),
    ...composerBindings(desk),
    ...episodeBindings(desk),
    ...timelineBindings(desk),
    ...panelBindings(desk),
    { command: commands.next, enabled: hasEnded(desk), run: goOn },
  ].map((binding): Binding => (takingOver ? { ...binding, enabled: false } : binding)));
}

function hasEnded({ episode: { status } }: Desk): boolean {
  return status === "finished" || status === "left" || status === "failed";
}

function proposalBindings(desk: Desk): Binding[] {
  const { proposals } = desk.episode;
  const ranked = (index: number) => proposals.find(({ rank }) => rank === index + 1);
  return [
    ...commands.accept.map((command, index): Binding => ({
      command,
      enabled: desk.mine && ranked(index)?.action != null,
      run: () => desk.accept(ranked(index)),
    })),
    ...commands.edit.map((command, index): Binding => ({
      command,
      enabled: desk.mine && ranked(index) !== undefined,
      run: () => desk.edit(ranked(index)),
    })),
    ...commands.mark.map((command, index): Binding => ({
      command,
      enabled: desk.mine && ranked(index) !== undefined,
      run: () => desk.mark(ranked(index), nextMark(ranked(index)?.mark ?? null)),
    })),
    { command: commands.prompt, run: () => desk.setDialog("prompt") },
    { command: commands.notes, run: () => desk.setDialog("notes") },
    { command: commands.resample, enabled: desk.mine && desk.episode.thinking !== "off", run: () => desk.send({ type: "resample" }) },
  ];
}

function composerBindings(desk: Desk): Binding[] {
  const can = (kind: string) => desk.mine && desk.episode.capabilities.includes(kind);
  return [
    { command: commands.doIt, enabled: desk.mine, run: desk.doIt },
    { command: commands.clear, run: () => stepBack(desk) },
    { command: commands.override, enabled: desk.mine, run: () => desk.composeOn(desk.lineRef) },
    { command: commands.thought, enabled: desk.mine, run: () => desk.composeOn(desk.thoughtRef) },
    { command: commands.point, run: () => desk.composeOn(desk.stageRef) },
    { command: commands.typeText, enabled: can("type_text"), run: () => desk.setMode("type") },
    { command: commands.hotkey, enabled: can("press_keys"), run: () => desk.setMode("hotkey") },
    { command: commands.clipboard, enabled: can("set_clipboard") || can("get_clipboard"), run: () => desk.setDialog("clipboard") },
    { command: commands.direct, enabled: !desk.episode.thought_required, run: desk.toggleDirect },
  ];
}

function panelBindings(desk: Desk): Binding[] {
  const there = panelsOf(desk.episode);
  return PANELS.map((name) => ({ command: commands.panels[name], enabled: there.includes(name), run: () => desk.showPanel(name) }));
}

/** Escape takes back the nearest thing: autopilot, the look into the past, a typing mode, a refusal, the draft, the panel. */
function stepBack(desk: Desk): void {
  if (desk.episode.autopilot) desk.send({ type: "autopilot", on: false });
  else if (desk.looking !== null) desk.look(null);
  else if (desk.mode !== "point") desk.setMode("point");
  else if (desk.refusal !== null) desk.session.dismiss();
  else if (!isEmpty(desk.draft)) desk.setDraft(EMPTY_DRAFT);
  else if (desk.panel !== null && hasScreen(desk.episode)) desk.showPanel(null);
}

function episodeBindings(desk: Desk): Binding[] {
  const { episode, steps, mine, send, setDialog } = desk;
  const holds = desk.view.control === "mine";
  const open = holds && (episode.status === "running" || episode.status === "paused");
  return [
    { command: commands.takeover, enabled: mine && episode.capabilities.includes("gesture"), run: () => send({ type: "takeover", on: true, thought: "" }) },
    { command: commands.autopilot, enabled: mine && episode.thinking !== "off", run: () => send({ type: "autopilot", on: !episode.autopilot }) },
    { command: commands.undo, enabled: mine && episode.can_undo && steps.length > 0, run: () => send({ type: "undo" }) },
    { command: commands.hurry, enabled: mine && episode.pending !== null, run: () => send({ type: "hurry" }) },
    { command: commands.finish, enabled: open, run: () => setDialog("finish") },
    { command: commands.infeasible, enabled: open, run: () => setDialog("infeasible") },
    { command: commands.help, enabled: open, run: () => setDialog("help") },
    { command: commands.leave, enabled: holds && !hasEnded(desk), run: () => setDialog("leave") },
    { command: commands.pause, enabled: open, run: () => send({ type: "pause", on: episode.status === "running" }) },
    { command: commands.control, enabled: !holds && !hasEnded(desk), run: () => send({ type: "control" }) },
  ];
}

function timelineBindings(desk: Desk): Binding[] {
  const count = desk.episode.steps.length;
  const at = desk.looking ?? count;
  return [
    { command: commands.previousStep, enabled: at > 0, run: () => desk.look(at - 1) },
    { command: commands.nextStep, enabled: desk.looking !== null, run: () => desk.look(at + 1 < count ? at + 1 : null) },
    { command: commands.live, enabled: desk.looking !== null, run: () => desk.look(null) },
  ];
}

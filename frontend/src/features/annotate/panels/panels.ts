/** The panels beside the picture: which there are, what a machine must be able to do for each, and which one an act belongs to. */
import type { Action, EpisodeState } from "@/generated/vocabulary";

export const PANELS = ["terminal", "files", "notebook", "tools", "preview"] as const;
export type PanelName = (typeof PANELS)[number];

type Kind = Action["kind"];

/** The acts that are taken from a panel; a machine that can do none of them has no such panel. */
const KINDS: Readonly<Record<PanelName, readonly Kind[]>> = {
  terminal: ["run_command", "type_terminal"],
  files: ["list_files", "read_file", "write_file", "edit_file", "upload_file", "download_file"],
  notebook: ["run_code"],
  tools: ["call_tool"],
  preview: [],
};

/** The panels this machine has. A preview shows what programs inside serve, so there must be a way to start one. */
export function availablePanels({ capabilities }: Pick<EpisodeState, "capabilities">): PanelName[] {
  const can = (kind: Kind) => capabilities.includes(kind);
  // A browser takes files in for its pages, and has no folder to look at.
  const has = (name: PanelName) => KINDS[name].some((kind) => kind !== "upload_file" && can(kind));
  return PANELS.filter((name) => has(name) || (name === "preview" && (can("run_command") || can("type_terminal"))));
}

/** The panel an act is shown in. */
export function panelFor({ kind }: Action): PanelName | null {
  return PANELS.find((name) => KINDS[name].includes(kind)) ?? null;
}

/** A machine without a screen shows its panels in the picture's place. */
export function hasScreen({ observation, task }: Pick<EpisodeState, "observation" | "task">): boolean {
  return observation === null ? task.platform !== "terminal" : observation.screenshot !== null;
}

/** What a person opened, and how many steps there were then. */
interface PanelChoice {
  readonly panel: PanelName | null;
  readonly step: number;
}

/**
 * The panel that is open: the one chosen, until a later act belongs to another. With a picture an act opens
 * nothing by itself; without one there is always a panel.
 */
export function currentPanel({ panel, step }: PanelChoice, episode: EpisodeState): PanelName | null {
  const available = availablePanels(episode);
  const last = episode.steps.length > step ? episode.steps.at(-1) : undefined;
  const followed = last === undefined ? null : panelFor(last.action);
  const wanted = panel === null && hasScreen(episode) ? null : (followed ?? panel ?? available[0] ?? null);
  return wanted !== null && available.includes(wanted) ? wanted : null;
}

/** What the machine shows and the task says, to complete words with; nothing of solutions. Pure. */
import type { ScreenTexts as MachineTexts } from "@/generated/api";
import type { EpisodeState } from "@/generated/vocabulary";
import { withoutUndone } from "@/shared/steps";

export interface ScreenTexts {
  /** Whole texts: what the task quotes, titles and addresses of pages, commands that were run. */
  readonly phrases: readonly string[];
  readonly words: readonly string[];
  readonly paths: readonly string[];
}

type Source = Pick<EpisodeState, "task" | "observation" | "steps">;

/** So many characters of a text are looked at, from its end: what came last is what is worked with. */
const READ = 8_000;
const QUOTED = /"([^"\n]{2,200})"|“([^”\n]{2,200})”|'([^'\n]{2,200})'(?!\w)|`([^`\n]{2,200})`/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}@._+-]*[\p{L}\p{N}]/gu;
const PATH = /(?:~|\.{1,2})?(?:\/[\w.@+-]+)+\/?|[\w@+-][\w.@+-]*(?:\/[\w.@+-]+)+|[\w@+-]+\.[a-z][a-z0-9]{0,4}\b/gi;

/** `machine` is what the machine itself knows of its screen. */
export function screenTexts({ task, observation, steps }: Source, machine: MachineTexts = { titles: [], words: [] }): ScreenTexts {
  const done = withoutUndone(steps).toReversed();
  const page = observation?.page ?? null;
  const titles = (page?.tabs ?? []).flatMap(({ title, url }) => [title, url]);
  const commands = done.flatMap(({ action }) => ("command" in action ? [action.command] : []));
  const onScreen = [observation?.text, ...done.slice(0, 5).map(({ after }) => after?.text)].flatMap((text) => text?.slice(-READ) ?? []);
  const texts = [task.instruction, ...onScreen, ...titles, ...(observation?.application ?? "").split("\n")];
  return {
    phrases: unique([...quotedIn(task.instruction), ...commands, ...titles, ...machine.titles]),
    words: unique([...wordsOf(texts), ...wordsOf(machine.titles), ...machine.words]),
    paths: unique([task.instruction, ...onScreen].flatMap((text) => text.match(PATH) ?? [])),
  };
}

function wordsOf(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(WORD) ?? []).filter((word) => word.length > 2);
}

function quotedIn(text: string): string[] {
  return [...text.matchAll(QUOTED)].flatMap((match) => match.slice(1).find(Boolean) ?? []);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text) => text !== ""))];
}

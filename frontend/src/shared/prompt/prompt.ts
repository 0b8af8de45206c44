/** What a model was asked, taken apart for the eye; pure. */
import type { ChatMessage, Prompt, Proposal } from "@/generated/vocabulary";

/** One question that was put at a step: its prompt, and the candidates that answered it. */
export interface Question {
  readonly sha256: string;
  readonly answers: readonly Proposal[];
}

/** The questions behind these candidates, the latest first; asked again word for word it is one question. */
export function questionsOf(proposals: readonly Proposal[]): Question[] {
  const answers = new Map<string, Proposal[]>();
  for (const proposal of proposals) {
    if (proposal.prompt === null) continue;
    const same = answers.get(proposal.prompt.sha256);
    if (same === undefined) answers.set(proposal.prompt.sha256, [proposal]);
    else same.push(proposal);
  }
  return [...answers].map(([sha256, same]) => ({ sha256, answers: same })).reverse();
}

/** The text of a message, as it was sent. */
export function textOf({ content }: ChatMessage): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

/** How many pictures it holds. */
export function picturesOf({ content }: ChatMessage): number {
  return content.filter(({ type }) => type === "image").length;
}

/** The turns that are open at first: the task, and from the last screen on. All others are a line until asked for. */
export function initiallyOpen({ messages }: Prompt): ReadonlySet<number> {
  return new Set([0, messages.length - 1]);
}

/** Whether these are the bytes of a prompt that can be shown. */
export function isPrompt(value: unknown): value is Prompt {
  return typeof value === "object" && value !== null && "format" in value && value.format === "pilothouse-prompt-1";
}

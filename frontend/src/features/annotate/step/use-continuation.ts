/** What the policy would write after a half-written text: asked for after a pause, shown while it fits what is typed. */
import { useEffect, useState, type KeyboardEvent } from "react";

import type { ContinueText, EpisodeState, PolicyRef, TextContinued } from "@/generated/vocabulary";
import { useWorkspace } from "@/features/annotate/use-workspace";

/** A pause in typing after which the policy is asked (milliseconds). */
export const PAUSE_MS = 350;
/** A text is continued from so many characters on. */
const LEAST = 3;

export type Question = Pick<ContinueText, "thought">;

export interface Continuation {
  /** What may be taken after the text; empty where nothing is offered. */
  readonly rest: string;
  /** Handles a key of the text's field: true where it took the continuation, a word of it, or hid it. */
  readonly handleKey: (event: KeyboardEvent<HTMLTextAreaElement | HTMLInputElement>) => boolean;
}

/** A text, and the screen that it was written for. */
interface TextAtScreen {
  readonly text: string;
  readonly screen: string;
}

interface SentQuestion extends TextAtScreen {
  readonly request: number;
}

/**
 * The continuation of `text`. `question` is what is asked, null where nothing is to be or the caret does not stand at the
 * end; `take` is given what was taken. Where one of `written` begins so, its rest is offered without a request.
 */
export function useContinuation(text: string, question: Question | null, take: (taken: string) => void, written: readonly string[] = []): Continuation {
  const { session, view, episode } = useWorkspace();
  const { mayOffer, mayAsk } = useRights();
  const [sent, setSent] = useState<SentQuestion | null>(null);
  const [hidden, setHidden] = useState<TextAtScreen | null>(null);
  const screen = screenOf(episode);
  const current = ofScreen(sent, screen);
  const isOffered = mayOffer && question !== null && !startsWith(text, ofScreen(hidden, screen));
  const rest = isOffered ? restOfWritten(written, text) || restOfAnswer(current, view.continued, text) : "";

  const due = mayAsk && isOffered && rest === "" && isLongEnough(text) && text !== current?.text;
  const body = due ? JSON.stringify(question) : null;
  useEffect(() => {
    if (body === null) return;
    const timer = setTimeout(() => {
      const request = session.ask(JSON.parse(body) as Question);
      if (request !== null) setSent({ request, text, screen });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [session, body, text, screen]);

  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement | HTMLInputElement>): boolean => {
    const does = rest === "" ? null : effectOf(event);
    if (does === null) return false;
    if (does === "hide") setHidden({ text, screen });
    else take(does === "word" ? firstWord(rest) : rest);
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { rest, handleKey };
}

/** Names the screen of the next step: what was continued for another one is not offered. */
function screenOf({ steps, observation }: EpisodeState): string {
  return `${steps.length} ${observation?.captured_at ?? ""} ${observation?.screenshot?.sha256 ?? ""}`;
}

/** What was written for this screen; null where it was for another one. */
function ofScreen<T extends TextAtScreen>(one: T | null, screen: string): T | null {
  return one?.screen === screen ? one : null;
}

function startsWith(text: string, one: TextAtScreen | null): boolean {
  return one !== null && text.startsWith(one.text);
}

/** Whether anything may be offered, and whether the policy may be asked now: proposals come first, not every server can. */
function useRights(): { mayOffer: boolean; mayAsk: boolean } {
  const { view, episode, connection, canAct } = useWorkspace();
  const mayOffer = canAct && episode.text_continuation;
  const isThinking = episode.thinking === "waiting" || episode.thinking === "streaming";
  const isAble = !samePolicy(view.cannotContinue, episode.policy);
  return { mayOffer, mayAsk: mayOffer && isAble && !isThinking && connection.phase === "online" };
}

function isLongEnough(text: string): boolean {
  return text.trim().length >= LEAST;
}

function restOfAnswer(sent: SentQuestion | null, continued: TextContinued | null, text: string): string {
  if (sent === null || continued?.request !== sent.request) return "";
  return restOf(sent.text, continued.text, text);
}

/** Whether nothing is selected and the caret stands at the end. */
export function caretAtEnd({ selectionStart, selectionEnd, value }: HTMLTextAreaElement | HTMLInputElement): boolean {
  return selectionStart === selectionEnd && selectionEnd === value.length;
}

/** What a key does to a continuation: with Ctrl, or Option as on a Mac, the right arrow takes a word of it. */
function effectOf(event: KeyboardEvent<HTMLTextAreaElement | HTMLInputElement>): "hide" | "word" | "all" | null {
  const { key, ctrlKey, altKey, metaKey, shiftKey } = event;
  if (event.nativeEvent.isComposing || !caretAtEnd(event.currentTarget) || metaKey || shiftKey) return null;
  if (key === "Escape") return "hide";
  if (ctrlKey || altKey) return key === "ArrowRight" && ctrlKey !== altKey ? "word" : null;
  return key === "Tab" || key === "ArrowRight" ? "all" : null;
}

/** What of a continuation is left after more was typed; empty where something else was typed. */
export function restOf(base: string, added: string, text: string): string {
  const whole = base + added;
  return text.startsWith(base) && whole.startsWith(text) ? whole.slice(text.length) : "";
}

/** The rest of the line of the first text that begins so. */
function restOfWritten(written: readonly string[], text: string): string {
  if (!isLongEnough(text)) return "";
  const found = written.find((one) => one.startsWith(text) && one.trimEnd().length > text.length);
  return found?.slice(text.length).split("\n", 1)[0] ?? "";
}

/** The first word of a text with the space before it and the marks behind it; also in languages without spaces. */
export function firstWord(text: string): string {
  let word = "";
  let found = false;
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    if (found && (isWordLike === true || /^\s/.test(segment))) break;
    found ||= isWordLike === true;
    word += segment;
  }
  return word;
}

function samePolicy(one: PolicyRef | null, other: PolicyRef | null): boolean {
  return one !== null && other !== null && one.name === other.name && one.revision === other.revision;
}

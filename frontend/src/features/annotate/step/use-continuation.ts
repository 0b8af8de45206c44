/** What the policy would write after a half-written text: asked for after a pause, shown while it fits what is typed. */
import { useEffect, useState, type KeyboardEvent } from "react";

import type { ContinueText, PolicyRef, TextContinued } from "@/generated/vocabulary";
import { useWorkspace } from "@/features/annotate/use-workspace";

/** A pause in typing after which the policy is asked (milliseconds). */
export const PAUSE_MS = 350;
/** A text is continued from so many characters on. */
const LEAST = 3;

export type Question = Pick<ContinueText, "part" | "thought" | "action">;

export interface Continuation {
  /** What may be taken after the text; empty where nothing is offered. */
  readonly rest: string;
  /** Handles a key of the text's field: true where it took the continuation, a word of it, or hid it. */
  readonly handleKey: (event: KeyboardEvent<HTMLTextAreaElement | HTMLInputElement>) => boolean;
}

interface SentQuestion {
  readonly request: number;
  readonly text: string;
}

/**
 * The continuation of `text`. `question` is what is asked, null where nothing is to be; `take` is given what was taken.
 * The caret must stand at the end of the text, or `question` be null.
 */
export function useContinuation(text: string, question: Question | null, take: (taken: string) => void): Continuation {
  const { session, view } = useWorkspace();
  const mayAsk = useMayAsk();
  const [sent, setSent] = useState<SentQuestion | null>(null);
  const [hidden, setHidden] = useState<number | null>(null);
  const isOffered = question !== null && sent !== null && sent.request !== hidden;
  const rest = isOffered ? restOf(sent.text, answerTo(sent, view.continued), text) : "";

  const due = mayAsk && question !== null && rest === "" && text.trim().length >= LEAST && text !== sent?.text;
  const body = due ? JSON.stringify(question) : null;
  useEffect(() => {
    if (body === null) return;
    const timer = setTimeout(() => {
      const request = session.ask(JSON.parse(body) as Question);
      if (request !== null) setSent({ request, text });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [session, body, text]);

  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement | HTMLInputElement>): boolean => {
    if (rest === "" || event.nativeEvent.isComposing || !caretAtEnd(event.currentTarget)) return false;
    if (event.key === "Escape") setHidden(sent?.request ?? null);
    else if (takesWord(event)) take(firstWord(rest));
    else if (takesAll(event)) take(rest);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { rest, handleKey };
}

/** Whether the policy may be asked now: proposals come first, and not every server can. */
function useMayAsk(): boolean {
  const { view, episode, connection, canAct } = useWorkspace();
  const isThinking = episode.thinking === "waiting" || episode.thinking === "streaming";
  const able = episode.text_continuation && !samePolicy(view.cannotContinue, episode.policy);
  return canAct && able && !isThinking && connection.phase === "online";
}

function answerTo({ request }: SentQuestion, continued: TextContinued | null): string {
  return continued?.request === request ? continued.text : "";
}

/** Whether nothing is selected and the caret stands at the end. */
export function caretAtEnd({ selectionStart, selectionEnd, value }: HTMLTextAreaElement | HTMLInputElement): boolean {
  return selectionStart === selectionEnd && selectionEnd === value.length;
}

type Keys = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "shiftKey">;

function takesAll({ key, ctrlKey, altKey, metaKey, shiftKey }: Keys): boolean {
  return (key === "Tab" || key === "ArrowRight") && !ctrlKey && !altKey && !metaKey && !shiftKey;
}

/** With Ctrl, or with Option as on a Mac. */
function takesWord({ key, ctrlKey, altKey, metaKey, shiftKey }: Keys): boolean {
  return key === "ArrowRight" && ctrlKey !== altKey && !metaKey && !shiftKey;
}

/** What of a continuation is left after more was typed; empty where something else was typed. */
export function restOf(base: string, added: string, text: string): string {
  const whole = base + added;
  return text.startsWith(base) && whole.startsWith(text) ? whole.slice(text.length) : "";
}

/** The first word of a text with the space before it. */
export function firstWord(text: string): string {
  return /^\s*\S+/.exec(text)?.[0] ?? text;
}

function samePolicy(one: PolicyRef | null, other: PolicyRef | null): boolean {
  return one !== null && other !== null && one.name === other.name && one.revision === other.revision;
}

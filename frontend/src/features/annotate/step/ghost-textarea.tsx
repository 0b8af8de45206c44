/** A text field that shows behind the caret what the policy would write next; Tab takes it. */
import { Textarea, VisuallyHidden, type TextareaProps } from "@mantine/core";
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type Ref } from "react";

import { isMac } from "@/shared/commands/keys";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./step.module.css";
import { caretAtEnd, useContinuation, type Question } from "./use-continuation";

interface Props extends Omit<TextareaProps, "value" | "onChange" | "onKeyDown" | "ref"> {
  readonly value: string;
  readonly ref?: Ref<HTMLTextAreaElement>;
  /** What the policy is asked to continue; null where nothing is. */
  readonly question: Question | null;
  /** What the policy wrote already, which the text may turn out to be. */
  readonly written?: readonly string[];
  readonly onChange: (text: string) => void;
  /** The text with what was taken at its end. */
  readonly onTake: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
}

/** So many characters fit two rows of the field; a longer continuation gets a third. */
const TWO_ROWS = 90;

export function GhostTextarea({ value, question, written, onChange, onTake, onKeyDown, minRows = 1, ...rest }: Props) {
  const { t } = useI18n();
  const [isAtEnd, setIsAtEnd] = useState(true);
  const [composing, setComposing] = useState(false);
  const ready = isAtEnd && !composing ? question : null;
  const continuation = useContinuation(value, ready, (taken) => onTake(value + taken), written);
  const offers = continuation.rest !== "";
  const announced = useAnnounced(value, continuation.rest);
  return (
    <>
      <Textarea
        {...rest}
        value={value}
        minRows={value.length + continuation.rest.length > TWO_ROWS && offers ? Math.max(minRows, 3) : minRows}
        onChange={(event) => onChange(event.currentTarget.value)}
        onSelect={({ currentTarget }) => setIsAtEnd(caretAtEnd(currentTarget))}
        onCompositionStart={() => setComposing(true)}
        onCompositionEnd={() => setComposing(false)}
        onKeyDown={(event) => {
          if (!continuation.handleKey(event)) onKeyDown(event);
        }}
        inputContainer={(field) => (
          <div className={styles.ghosted}>
            {field}
            {offers && <Ghost before={value} text={continuation.rest} />}
          </div>
        )}
      />
      <VisuallyHidden role="status">{offers && t("step.continuation", { text: announced, key: isMac() ? "Option" : "Ctrl" })}</VisuallyHidden>
    </>
  );
}

/** What is said of a continuation: once for each, while it is typed along and taken a word at a time. */
function useAnnounced(value: string, rest: string): string {
  const [announced, setAnnounced] = useState({ whole: "", text: "" });
  const isNew = rest !== "" && announced.whole !== value + rest;
  if (isNew) setAnnounced({ whole: value + rest, text: rest.trim() });
  return isNew ? rest.trim() : announced.text;
}

const COPIED = ["font", "letterSpacing", "lineHeight", "padding", "borderWidth", "tabSize"] as const;

/** Lies over the field with the same text in the same place, so that what it adds stands where it would be typed. */
function Ghost({ before, text }: { before: string; text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const ghost = ref.current;
    const field = ghost?.parentElement?.querySelector("textarea");
    if (ghost == null || field == null) return;
    const computed = getComputedStyle(field);
    for (const name of COPIED) ghost.style[name] = computed[name];
    ghost.scrollTop = field.scrollTop;
  }, [before, text]);
  return (
    <div ref={ref} className={styles.ghost} aria-hidden data-testid="continuation">
      <span>{before}</span>
      <i>{text}</i>
    </div>
  );
}

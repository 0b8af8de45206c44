/** The tracks of a recorded session over one time axis: loudness, words, acts and thoughts. */
import { useEffect, useMemo, useRef, type KeyboardEvent } from "react";

import type { SpeechOut } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./speech.module.css";
import { clock, marksOf, wavePath } from "./time-axis";

/** With more time in sight words have no room. */
const READABLE_SECONDS = 12;

type Props = {
  speech: SpeechOut;
  steps: readonly Step[];
  zoom: number;
  /** Where the cursor is (seconds). */
  now: number;
  currentStep: number;
  selected: number;
  onSeek: (seconds: number) => void;
  onSelect: (thought: number) => void;
};

export function Tracks({ speech, steps, zoom, now, currentStep, selected, onSeek, onSelect }: Props) {
  const { t } = useI18n();
  const duration = Math.max(speech.duration, 0.1);
  const place = (seconds: number) => `${(100 * seconds) / duration}%`;
  const span = (begin: number, end: number) => ({ left: place(begin), width: `max(4px, ${place(end - begin)})` });
  const room = useCursorInSight(now / duration, zoom);
  return (
    <div className={styles.room} ref={room}>
      <div className={styles.axis} style={{ width: `${100 * zoom}%` }}>
        <Ruler duration={duration} zoom={zoom} now={now} onSeek={onSeek} />
        <Wave speech={speech} duration={duration} />
        <div className={styles.words} aria-hidden data-dense={duration / zoom > READABLE_SECONDS || undefined} hidden={speech.words.length === 0}>
          {speech.words.map(({ begin, end, text }, index) => (
            <span key={index} style={span(begin, end)} data-redacted={text === "" || undefined}>
              {text}
            </span>
          ))}
        </div>
        <div className={styles.acts} role="group" aria-label={t("speech.acts")}>
          {speech.steps.map(({ index, begin, end, element }) => (
            <ActMark key={index} step={steps[index]} element={element} number={index + 1} style={span(begin, end)} current={index === currentStep} onClick={() => onSeek(begin)} />
          ))}
        </div>
        <ThoughtTrack speech={speech} selected={selected} onSelect={onSelect} span={span} />
        <div className={styles.cursor} style={{ left: place(now) }} />
      </div>
    </div>
  );
}

/** Scrolls along where the cursor leaves what is in sight. */
function useCursorInSight(share: number, zoom: number) {
  const room = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = room.current;
    if (!box) return;
    const at = share * box.scrollWidth;
    if (at < box.scrollLeft || at > box.scrollLeft + box.clientWidth) box.scrollLeft = at - box.clientWidth / 4;
  }, [share, zoom]);
  return room;
}

function Ruler({ duration, zoom, now, onSeek }: { duration: number; zoom: number } & Pick<Props, "now" | "onSeek">) {
  const { t } = useI18n();
  return (
    <div className={styles.ruler}>
      <input
        type="range"
        className={styles.seek}
        aria-label={t("speech.cursor")}
        aria-valuetext={clock(now)}
        min={0}
        max={duration}
        step={0.1}
        value={now}
        onChange={(event) => onSeek(Number(event.currentTarget.value))}
      />
      {marksOf(duration, zoom).map((seconds) => (
        <span key={seconds} className={styles.mark} style={{ left: `${(100 * seconds) / duration}%` }} aria-hidden>
          {clock(seconds).replace(/\.0$/, "")}
        </span>
      ))}
    </div>
  );
}

function Wave({ speech: { levels }, duration }: { speech: SpeechOut; duration: number }) {
  const { t } = useI18n();
  const path = useMemo(() => wavePath(levels), [levels]);
  if (levels.length === 0) return <p className={styles.none}>{t("speech.no_levels")}</p>;
  return (
    <svg className={styles.wave} viewBox={`0 0 ${duration} 2`} preserveAspectRatio="none" role="img" aria-label={t("speech.wave")}>
      <path d={path} />
    </svg>
  );
}

type ActProps = { step: Step | undefined; element: string; number: number; style: React.CSSProperties; current: boolean; onClick: () => void };

/** The strip of steps has each act as a tab stop; here the pointer finds them by their time. */
function ActMark({ step, element, number, style, current, onClick }: ActProps) {
  const i18n = useI18n();
  const label = `${i18n.t("timeline.step", { number })}${step ? `: ${describeAction(step.action, i18n)}` : ""}${element && ` (${element})`}`;
  return (
    <button type="button" className={styles.act} style={style} data-current={current || undefined} aria-label={label} title={label} tabIndex={-1} onClick={onClick}>
      {number}
    </button>
  );
}

type ThoughtTrackProps = Pick<Props, "speech" | "selected" | "onSelect"> & { span: (begin: number, end: number) => React.CSSProperties };

/** One stop of the Tab key; arrow keys move inside it. */
function ThoughtTrack({ speech: { thoughts }, selected, onSelect, span }: ThoughtTrackProps) {
  const { t } = useI18n();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    if (event.shiftKey) return;
    const target = { ArrowLeft: selected - 1, ArrowRight: selected + 1, Home: 0, End: thoughts.length - 1 }[event.key];
    if (target === undefined || !thoughts[target]) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(target);
    list.current?.querySelectorAll("button")[target]?.focus();
  };
  if (thoughts.length === 0) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys belong to the buttons inside
    <div ref={list} className={styles.thoughts} role="group" aria-label={t("speech.thoughts")} onKeyDown={move}>
      {thoughts.map(({ begin, end, text, role, steps, written }, index) => (
        <button
          key={index}
          type="button"
          className={styles.thought}
          style={span(begin, end)}
          data-role={role}
          data-none={steps.length === 0 || undefined}
          data-written={written || undefined}
          aria-pressed={index === selected}
          aria-label={`${t("speech.thought", { number: index + 1 })}: ${text}`}
          title={text}
          tabIndex={index === selected ? 0 : -1}
          onClick={() => onSelect(index)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

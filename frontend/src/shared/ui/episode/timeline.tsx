/** The strip of steps: a thumbnail each, who decided, before and after on hover, the act that is running at its end. */
import { Popover } from "@mantine/core";
import { Check, Minus, Pencil, X } from "lucide-react";
import { memo, useCallback, useDeferredValue, useEffect, useRef, type KeyboardEvent } from "react";

import type { PendingAct, Step, StepVerdict } from "@/generated/vocabulary";
import { describeAction, pointsOf } from "@/shared/actions/words";
import { useI18n, type I18n } from "@/shared/i18n/i18n";
import { isUpright } from "@/shared/markers/mapping";

import { ActionText } from "./action-text";
import { BatchBadge, BatchNote } from "./batch-note";
import { Badge, DecisionBadge } from "@/shared/ui/badge";
import { StepErrorText } from "./step-error-text";
import { StepNotes } from "./step-notes";
import { Thumbnail, type BlobUrl } from "./thumbnail";
import styles from "./timeline.module.css";
import { useDwell } from "./use-dwell";

/** What reviewers made of a step; `cut`: it is outside of what counts. */
export type StepMark = { readonly verdict: StepVerdict | null; readonly corrected: boolean; readonly cut: boolean };

type Props = {
  steps: readonly Step[];
  /** By the index of the step. */
  marks?: ReadonlyMap<number, StepMark> | undefined;
  pending?: PendingAct | null;
  /** Position of the step that is looked at; null for the present. */
  current: number | null;
  onSelect: (index: number) => void;
  blobUrl: BlobUrl;
};

/** The strip is one stop of the Tab key; arrow keys move inside it. A strip of hundreds draws only the tiles again that changed. */
export function Timeline({ steps, marks, pending = null, current, onSelect, blobUrl }: Props) {
  const { t } = useI18n();
  const list = useRef<HTMLOListElement>(null);
  const stop = current ?? steps.length - 1;
  // The tiles around the current one come with the page, which shows its picture before it has drawn hundreds of others.
  const drawsAll = useDeferredValue(true, steps.length <= FIRST_TILES);
  const from = drawsAll ? 0 : Math.max(0, Math.min(stop - FIRST_TILES / 2, steps.length - FIRST_TILES));
  const latest = useRef(onSelect);
  useEffect(() => {
    latest.current = onSelect;
  });
  const select = useCallback((index: number) => latest.current(index), []);

  useEffect(() => {
    list.current?.children[(current ?? steps.length - (pending ? 0 : 1)) - from]?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [current, steps.length, pending, from]);

  const move = (event: KeyboardEvent) => {
    const target = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (target === undefined || !steps[target]) return;
    event.preventDefault();
    onSelect(target);
    list.current?.children[target - from]?.querySelector("button")?.focus();
  };

  if (steps.length === 0 && !pending) return <p className={styles.empty}>{t("timeline.empty")}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys belong to the buttons inside
    <ol ref={list} className={styles.timeline} aria-label={t("timeline.label")} onKeyDown={move}>
      {(drawsAll ? steps : steps.slice(from, from + FIRST_TILES)).map((step, index) => (
        <StepTile
          key={step.command_id}
          step={step}
          position={from + index}
          mark={marks?.get(step.index)}
          current={from + index === current}
          tabIndex={from + index === stop ? 0 : -1}
          onSelect={select}
          blobUrl={blobUrl}
        />
      ))}
      {pending && (
        <li className={styles.pending} role="status">
          <span className={styles.number}>{steps.length + 1}</span>
          <span>{t("timeline.pending")}</span>
          {pending.batch !== null && (
            <span aria-label={t("batch.position", { index: pending.batch.index, size: pending.batch.size })}>
              {pending.batch.index}/{pending.batch.size}
            </span>
          )}
        </li>
      )}
    </ol>
  );
}

/** More than fit beside each other on a wide screen. */
const FIRST_TILES = 60;

type TileProps = {
  step: Step;
  /** Its place in the strip. */
  position: number;
  mark: StepMark | undefined;
  current: boolean;
  tabIndex: number;
  onSelect: (position: number) => void;
  blobUrl: BlobUrl;
};

/** Its card is made when the pointer or the keyboard rests on it: of five hundred tiles few are ever looked at. */
const StepTile = memo(function StepTile({ step, position, mark, current, tabIndex, onSelect, blobUrl }: TileProps) {
  const i18n = useI18n();
  const { dwells, handlers } = useDwell();
  const words = describeAction(step.action, i18n);
  return (
    <li className={styles.item}>
      <button
        type="button"
        className={styles.tile}
        data-decision={step.decision}
        {...markData(mark)}
        data-failed={step.error ? true : undefined}
        data-undone={step.undone || undefined}
        data-follows={(step.batch !== null && step.batch.index > 1) || undefined}
        data-upright={isUpright(step.before) || undefined}
        aria-current={current ? "step" : undefined}
        aria-label={labelOf(step, mark, i18n)}
        tabIndex={tabIndex}
        onClick={() => onSelect(position)}
        {...handlers}
      >
        <span className={styles.number}>{step.index + 1}</span>{" "}
        {mark && <MarkSign mark={mark} />}
        {step.before.screenshot === null ? (
          <span className={styles.words}>{words}</span>
        ) : (
          <Thumbnail observation={step.before} blobUrl={blobUrl} alt="" points={pointsOf(step.action)} />
        )}
      </button>
      {dwells && (
        <Popover opened width={isUpright(step.before) ? 400 : 560} position="top" withinPortal shadow="md" withRoles={false} keepMounted={false}>
          <Popover.Target>
            <span className={styles.anchor} />
          </Popover.Target>
          <Popover.Dropdown className={styles.card}>
            <StepCard step={step} blobUrl={blobUrl} />
          </Popover.Dropdown>
        </Popover>
      )}
    </li>
  );
});

function labelOf(step: Step, mark: StepMark | undefined, i18n: I18n): string {
  const { t } = i18n;
  const position = step.batch === null ? "" : `${t("batch.position", { index: step.batch.index, size: step.batch.size })}. `;
  const decision = t(step.undone ? "timeline.undone" : `decision.${step.decision}`);
  return `${t("timeline.step", { number: step.index + 1 })}: ${describeAction(step.action, i18n)}. ${position}${decision}${markText(mark, t)}`;
}

function MarkSign({ mark: { verdict, corrected } }: { mark: StepMark }) {
  if (verdict === null && !corrected) return null;
  const Sign = verdict === null ? null : verdict === "right" ? Check : verdict === "redundant" ? Minus : X;
  return (
    <span className={styles.mark} aria-hidden>
      {corrected && <Pencil size={10} strokeWidth={3} />}
      {Sign && <Sign size={10} strokeWidth={3} />}
    </span>
  );
}

const markData = (mark: StepMark | undefined) => ({ "data-verdict": mark?.verdict ?? undefined, "data-cut": mark?.cut === true ? true : undefined });

/** What a tile's colours and signs say. */
function markText(mark: StepMark | undefined, t: I18n["t"]): string {
  if (mark === undefined) return "";
  const texts = [mark.verdict && t(`verdict.${mark.verdict}`), mark.corrected && t("timeline.corrected"), mark.cut && t("timeline.cut")];
  return texts.filter(Boolean).map((text) => `. ${text}`).join("");
}

/** What a step gave to see: after a zoom the part that was asked for, else the screen. */
function resultFrame({ action, after }: Step) {
  return action.kind === "zoom" && after?.attachment ? { ...after, screenshot: after.attachment } : after;
}

function StepCard({ step, blobUrl }: { step: Step; blobUrl: BlobUrl }) {
  const { t, duration } = useI18n();
  const { before, after } = step;
  return (
    <>
      <div className={styles.pair} data-upright={isUpright(before) || undefined}>
        <figure>
          <Thumbnail observation={before} blobUrl={blobUrl} alt={t("timeline.before")} points={pointsOf(step.action)} />
          <figcaption>{t("timeline.before")}</figcaption>
        </figure>
        <figure>
          <Thumbnail observation={resultFrame(step)} blobUrl={blobUrl} alt={t("timeline.after")} />
          <figcaption>
            {after ? `${t("timeline.after")} · ${duration(after.settle_ms)}` : t("timeline.no_after")}
            {after && !after.settled && ` · ${t("timeline.unsettled")}`}
          </figcaption>
        </figure>
      </div>
      <div className={styles.line}>
        <DecisionBadge decision={step.decision} />
        {step.undone && <Badge tone="neutral" title={t("timeline.undone.help")}>{t("timeline.undone")}</Badge>}
        <BatchBadge batch={step.batch} />
        <ActionText action={step.action} />
      </div>
      <BatchNote step={step} />
      {step.thought && <p className={styles.thought}>{step.thought}</p>}
      <StepNotes step={step} />
      {step.error && <p className={styles.error}><StepErrorText error={step.error} /></p>}
    </>
  );
}

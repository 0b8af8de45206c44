/** The strip of steps: a thumbnail each, who decided, before and after on hover, the act that is running at its end. */
import { HoverCard } from "@mantine/core";
import { useEffect, useRef, type KeyboardEvent } from "react";

import type { PendingAct, Step } from "@/generated/vocabulary";
import { describeAction, pointsOf } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { isUpright } from "@/shared/markers/mapping";

import { ActionText } from "./action-text";
import { BatchBadge, BatchNote } from "./batch-note";
import { Badge, DecisionBadge } from "@/shared/ui/badge";
import { StepErrorText } from "./step-error-text";
import { StepNotes } from "./step-notes";
import { Thumbnail, type BlobUrl } from "./thumbnail";
import styles from "./timeline.module.css";

type Props = {
  steps: readonly Step[];
  pending?: PendingAct | null;
  /** Position of the step that is looked at; null for the present. */
  current: number | null;
  onSelect: (index: number) => void;
  blobUrl: BlobUrl;
};

/** The strip is one stop of the Tab key; arrow keys move inside it. */
export function Timeline({ steps, pending = null, current, onSelect, blobUrl }: Props) {
  const { t } = useI18n();
  const list = useRef<HTMLOListElement>(null);
  const stop = current ?? steps.length - 1;

  useEffect(() => {
    list.current?.children[current ?? steps.length - (pending ? 0 : 1)]?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [current, steps.length, pending]);

  const move = (event: KeyboardEvent) => {
    const target = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (target === undefined || !steps[target]) return;
    event.preventDefault();
    onSelect(target);
    list.current?.children[target]?.querySelector("button")?.focus();
  };

  if (steps.length === 0 && !pending) return <p className={styles.empty}>{t("timeline.empty")}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys belong to the buttons inside
    <ol ref={list} className={styles.timeline} aria-label={t("timeline.label")} onKeyDown={move}>
      {steps.map((step, index) => (
        <li key={step.command_id}>
          <StepTile
            step={step}
            current={index === current}
            tabIndex={index === stop ? 0 : -1}
            onSelect={() => onSelect(index)}
            blobUrl={blobUrl}
          />
        </li>
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

type TileProps = { step: Step; current: boolean; tabIndex: number; onSelect: () => void; blobUrl: BlobUrl };

function StepTile({ step, current, tabIndex, onSelect, blobUrl }: TileProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const number = step.index + 1;
  const words = describeAction(step.action, i18n);
  const position = step.batch === null ? "" : `${t("batch.position", { index: step.batch.index, size: step.batch.size })}. `;
  return (
    <HoverCard width={isUpright(step.before) ? 400 : 560} position="top" openDelay={250} closeDelay={50} withinPortal shadow="md" keepMounted={false}>
      <HoverCard.Target>
        <button
          type="button"
          className={styles.tile}
          data-decision={step.decision}
          data-failed={step.error ? true : undefined}
          data-undone={step.undone || undefined}
          data-follows={(step.batch !== null && step.batch.index > 1) || undefined}
          data-upright={isUpright(step.before) || undefined}
          aria-current={current ? "step" : undefined}
          aria-label={`${t("timeline.step", { number })}: ${words}. ${position}${t(step.undone ? "timeline.undone" : `decision.${step.decision}`)}`}
          tabIndex={tabIndex}
          onClick={onSelect}
        >
          <span className={styles.number}>{number}</span>{" "}
          {step.before.screenshot === null ? (
            <span className={styles.words}>{words}</span>
          ) : (
            <Thumbnail observation={step.before} blobUrl={blobUrl} alt="" points={pointsOf(step.action)} />
          )}
        </button>
      </HoverCard.Target>
      <HoverCard.Dropdown className={styles.card}>
        <StepCard step={step} blobUrl={blobUrl} />
      </HoverCard.Dropdown>
    </HoverCard>
  );
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

/** A trajectory to look through: every frame with its action, who decided, and what else was offered. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useReducer, useState, type ReactNode } from "react";
import { useSearchParams } from "react-router";

import type { RecordingPart } from "@/generated/api";
import type { Action, Point, Snapshot, Step, Trajectory } from "@/generated/vocabulary";
import { pointsOf } from "@/shared/actions/words";
import { isUpright } from "@/shared/markers/mapping";
import { useCaret } from "@/shared/markers/use-caret";
import { blobUrlOf } from "@/shared/api/episodes";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { PromptView } from "@/shared/prompt/prompt-view";
import { Dialog } from "@/shared/ui/dialog";
import { Frame } from "@/shared/ui/episode/frame";
import { Empty } from "@/shared/ui/states";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";
import { Timeline, type StepMark } from "@/shared/ui/episode/timeline";

import { recordingQuery } from "./api";
import { replayCommands } from "./commands";
import { Controls } from "./controls";
import { FRAME_MS, reducePlayer, startAt, type Move, type Player } from "./player";
import { positionOf } from "./recording";
import { Programs } from "./programs";
import { RecordingView } from "./recording-view";
import styles from "./replay.module.css";
import { StepPanel } from "./step-panel";
import { Summary } from "./summary";
import { useSupervisorNotes } from "./use-supervisor-notes";

type Corrections = {
  /** The action being written over a step's; null while none is, or while what is written is no action. */
  readonly actionOf: (step: number) => Action | null;
  /** Moves a point of it on the picture. */
  readonly onMovePoint: (step: number, point: number, to: Point) => void;
};

type Props = {
  trajectory: Trajectory;
  state: Snapshot["state"];
  /** What people call who made it. */
  annotator?: string | undefined;
  /** The step to open where the address names none. */
  firstStep?: number | undefined;
  stepMarks?: ReadonlyMap<number, StepMark> | undefined;
  corrections?: Corrections | undefined;
  /** Above the panel. */
  notice?: (step: number, select: (step: number) => void) => ReactNode;
  /** Above the strip of steps; `reach` shows the screen of a step while it goes on by itself. */
  timeline?: (step: number, reach: (step: number) => void) => ReactNode;
  /** Below what the panel says of the step; `advance` goes to the next step. */
  review?: (step: number, advance: () => void) => ReactNode;
};

export function Replay({ trajectory, state, annotator, firstStep, stepMarks, corrections, notice, timeline, review }: Props) {
  const { t } = useI18n();
  const { steps } = trajectory;
  const [player, move] = usePlayer(steps.length, firstStep);
  const step = steps[player.step];
  const reach = useCallback((to: number) => move({ reached: to }), [move]);
  const { parts, video } = useRecording(trajectory.id);
  const blobUrl = useMemo(() => blobUrlOf(trajectory.id), [trajectory.id]);

  useNextFrame(steps[player.step + 1], blobUrl);
  const [promptOpen, setPromptOpen] = useState(false);
  const { notes, nameOf } = useSupervisorNotes(trajectory);
  const offered = trajectory.proposals[player.step] ?? [];
  useCommands([
    { command: replayCommands.prompt, enabled: step !== undefined, run: () => setPromptOpen(true) },
    ...(["play", "next", "previous", "first", "last", "after", "video", "faster", "slower"] as const).map((name) => ({
      command: replayCommands[name],
      enabled: steps.length > 0 && (name !== "video" || video === "ready"),
      run: () => move(name),
    })),
  ]);

  return (
    <div className={styles.replay} data-upright={(step !== undefined && isUpright(step.before)) || undefined}>
      <section className={styles.viewport} aria-label={t("replay.viewport")}>
        {step ? (
          <ReplayViewport steps={steps} step={step} parts={parts} player={player} move={move} blobUrl={blobUrl} corrections={corrections} />
        ) : (
          <Empty title={t("timeline.empty")} />
        )}
      </section>
      <aside className={styles.panel} aria-label={t("replay.panel")}>
        {notice?.(player.step, (to) => move({ to }))}
        <Summary trajectory={trajectory} state={state} annotator={annotator} notes={notes} />
        {step && <StepPanel step={step} supervisor={nameOf(step.acted_by)} proposals={offered} count={steps.length} onPrompt={() => setPromptOpen(true)} />}
        {trajectory.task.platform === "browser" && <Programs episodeId={trajectory.id} />}
        {review?.(player.step, () => player.step < steps.length - 1 && move({ to: player.step + 1 }))}
      </aside>
      <div className={styles.foot}>
        {timeline?.(player.step, reach)}
        <Controls player={player} move={move} count={steps.length} video={video} />
        <div className={styles.strip}>
          <Timeline
            steps={steps}
            marks={stepMarks}
            pending={state.pending}
            current={steps.length > 0 ? player.step : null}
            onSelect={(to) => move({ to })}
            blobUrl={blobUrl}
          />
        </div>
      </div>
      <Dialog opened={promptOpen} onClose={() => setPromptOpen(false)} title={t("prompt.title", { number: player.step + 1 })} size="80rem">
        {promptOpen && <PromptView episodeId={trajectory.id} proposals={offered} />}
      </Dialog>
    </div>
  );
}

type ReplayViewportProps = {
  steps: readonly Step[];
  step: Step;
  parts: readonly RecordingPart[];
  player: Player;
  move: (move: Move) => void;
  blobUrl: BlobUrl;
  corrections: Corrections | undefined;
};

/** What is written over the step where it is corrected; the video where it is wanted and shows the step, else the frame the act found or left. */
function ReplayViewport({ steps, step, parts, player, move, blobUrl, corrections }: ReplayViewportProps) {
  const { t } = useI18n();
  const focus = useCaret(steps.slice(0, player.step), blobUrl);
  const corrected = corrections?.actionOf(step.index);
  if (corrections && corrected) {
    return <CorrectedFrame step={step} action={corrected} onMovePoint={(point, to) => corrections.onMovePoint(step.index, point, to)} blobUrl={blobUrl} />;
  }
  if (player.video && positionOf(parts, player.step, player.after)) {
    return <RecordingView parts={parts} step={step} player={player} move={move} blobUrl={blobUrl} />;
  }
  return (
    <Frame
      observation={player.after ? step.after : step.before}
      blobUrl={blobUrl}
      alt={t(player.after ? "replay.frame_after" : "replay.frame_before", { number: step.index + 1 })}
      marks={player.after ? [] : [{ key: step.command_id, action: step.action, tone: "done" }]}
      focus={focus}
    />
  );
}

type CorrectedFrameProps = { step: Step; action: Action; onMovePoint: (point: number, to: Point) => void; blobUrl: BlobUrl };

/** The frame a step acted on, with the executed action drawn back behind the one that is written over it. */
function CorrectedFrame({ step, action, onMovePoint, blobUrl }: CorrectedFrameProps) {
  const { t } = useI18n();
  return (
    <Frame
      observation={step.before}
      blobUrl={blobUrl}
      alt={t("replay.frame_before", { number: step.index + 1 })}
      marks={[
        { key: step.command_id, action: step.action, tone: "done", dim: true },
        { key: "correction", action, tone: "draft" },
      ]}
      handles={{ points: pointsOf(action), onMove: onMovePoint }}
    />
  );
}

const NO_PARTS: readonly RecordingPart[] = [];

/** The parts of the episode's video, and whether there is one to be shown. */
function useRecording(episodeId: string): { parts: readonly RecordingPart[]; video: "none" | "pending" | "ready" } {
  const { data } = useQuery(recordingQuery(episodeId));
  const parts = data?.parts ?? NO_PARTS;
  if (parts.length > 0) return { parts, video: "ready" };
  return { parts, video: data?.pending ? "pending" : "none" };
}

/** So long a step must be shown (milliseconds) before the address names it: browsers refuse more than 100 changes of it in 30 s. */
const ADDRESS_MS = 300;

/** The player, its clock, and its place in the address: `?step=3` counts from one. */
function usePlayer(count: number, firstStep = 0): [Player, (move: Move) => void] {
  const [search, setSearch] = useSearchParams();
  const requestedStep = Number(search.get("step") ?? firstStep + 1) - 1;
  const [player, move] = useReducer(
    (player: Player, move: Move) => reducePlayer(player, move, count),
    startAt(Number.isInteger(requestedStep) ? Math.min(Math.max(requestedStep, 0), Math.max(count - 1, 0)) : 0),
  );

  useEffect(() => {
    if (!player.playing || player.video) return;
    const timer = setTimeout(() => move("tick"), FRAME_MS / player.speed);
    return () => clearTimeout(timer);
  }, [player]);

  useEffect(() => {
    if (player.playing) return;
    const place = (search: URLSearchParams) => {
      const next = new URLSearchParams(search);
      next.set("step", String(player.step + 1));
      return next;
    };
    const timer = setTimeout(() => setSearch(place, { replace: true }), ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [player.step, player.playing, setSearch]);

  return [player, move];
}

/** Fetch the frame that comes next, so that stepping never waits. */
function useNextFrame(step: Step | undefined, blobUrl: BlobUrl) {
  const sha256 = step?.before.screenshot?.sha256;
  useEffect(() => {
    if (sha256) new Image().src = blobUrl(sha256);
  });
}

/** A trajectory to look through: every frame with its action, who decided, and what else was offered. */
import { useEffect, useReducer, type ReactNode } from "react";
import { useSearchParams } from "react-router";

import type { Snapshot, Trajectory } from "@/generated/vocabulary";
import { lastPointed } from "@/shared/markers/marker";
import { blobUrlOf } from "@/shared/api/episodes";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { Frame } from "@/shared/ui/frame";
import { Empty } from "@/shared/ui/states";
import { Timeline } from "@/shared/ui/timeline";

import { replayCommands } from "./commands";
import { Controls } from "./controls";
import { FRAME_MS, moved, type Move, type Player } from "./player";
import styles from "./replay.module.css";
import { StepPanel } from "./step-panel";
import { Summary } from "./summary";

type Props = { trajectory: Trajectory; state: Snapshot["state"]; review?: ReactNode };

export function Replay({ trajectory, state, review }: Props) {
  const { t } = useI18n();
  const { steps } = trajectory;
  const [player, move] = usePlayer(steps.length);
  const step = steps[player.step];
  const blobUrl = blobUrlOf(trajectory.id);

  useNextFrame(steps[player.step + 1]?.before.screenshot?.sha256, blobUrl);
  useCommands(
    (["play", "next", "previous", "first", "last", "after", "faster", "slower"] as const).map((name) => ({
      command: replayCommands[name],
      enabled: steps.length > 0,
      run: () => move(name),
    })),
  );

  const marks = step && !player.after ? [{ key: step.command_id, action: step.action, tone: "done" as const }] : [];
  return (
    <div className={styles.replay}>
      <section className={styles.stage} aria-label={t("replay.stage")}>
        {step ? (
          <Frame
            observation={player.after ? step.after : step.before}
            blobUrl={blobUrl}
            alt={t(player.after ? "replay.frame_after" : "replay.frame_before", { number: step.index + 1 })}
            marks={marks}
            focus={lastPointed(steps.slice(0, player.step).map(({ action }) => action))}
          />
        ) : (
          <Empty title={t("timeline.empty")} />
        )}
      </section>
      <aside className={styles.panel} aria-label={t("replay.panel")}>
        <Summary trajectory={trajectory} state={state} />
        {step && <StepPanel step={step} proposals={trajectory.proposals[player.step] ?? []} count={steps.length} />}
        {review}
      </aside>
      <div className={styles.foot}>
        <Controls player={player} move={move} count={steps.length} />
        <div className={styles.strip}>
          <Timeline
            steps={steps}
            pending={state.pending}
            current={steps.length > 0 ? player.step : null}
            onSelect={(to) => move({ to })}
            blobUrl={blobUrl}
          />
        </div>
      </div>
    </div>
  );
}

/** The player, its clock, and its place in the address: `?step=3` counts from one. */
function usePlayer(count: number): [Player, (move: Move) => void] {
  const [search, setSearch] = useSearchParams();
  const asked = Number(search.get("step") ?? "1") - 1;
  const [player, move] = useReducer(
    (player: Player, move: Move) => moved(player, move, count),
    { step: Number.isInteger(asked) ? Math.min(Math.max(asked, 0), Math.max(count - 1, 0)) : 0, after: false, playing: false, speed: 1 },
  );

  useEffect(() => {
    if (!player.playing) return;
    const timer = setTimeout(() => move("tick"), FRAME_MS / player.speed);
    return () => clearTimeout(timer);
  }, [player]);

  useEffect(() => {
    if (!player.playing) setSearch({ step: String(player.step + 1) }, { replace: true });
  }, [player.step, player.playing, setSearch]);

  return [player, move];
}

/** Fetch the frame that comes next, so that stepping never waits. */
function useNextFrame(sha256: string | undefined, blobUrl: (sha256: string) => string) {
  useEffect(() => {
    if (sha256) new Image().src = blobUrl(sha256);
  });
}

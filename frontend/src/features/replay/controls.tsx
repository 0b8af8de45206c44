/** Play, step and speed; every button says its key. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Pause, Play } from "lucide-react";
import type { ReactNode } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import { replayCommands } from "./commands";
import type { Move, Player } from "./player";
import styles from "./replay.module.css";

type Props = { player: Player; move: (move: Move) => void; count: number; video: "none" | "pending" | "ready" };

export function Controls({ player, move, count, video }: Props) {
  const { t, language } = useI18n();
  return (
    <div className={styles.controls} role="toolbar" aria-label={t("replay.controls")}>
      <Control name="first" move={move}>
        <ChevronFirst size={16} />
      </Control>
      <Control name="previous" move={move}>
        <ChevronLeft size={16} />
      </Control>
      <Control name="play" move={move} pressed={player.playing}>
        {player.playing ? <Pause size={16} /> : <Play size={16} />}
      </Control>
      <Control name="next" move={move}>
        <ChevronRight size={16} />
      </Control>
      <Control name="last" move={move}>
        <ChevronLast size={16} />
      </Control>
      <span className={styles.place} aria-live={player.playing ? "off" : "polite"}>
        {t("replay.place", { number: Math.min(player.step + 1, count), count })}
      </span>
      <button type="button" className={styles.toggle} aria-pressed={player.after} onClick={() => move("after")}>
        {t(player.after ? "timeline.after" : "timeline.before")} <CommandKey command={replayCommands.after} />
      </button>
      {video === "ready" && (
        <button type="button" className={styles.toggle} aria-pressed={player.video} onClick={() => move("video")}>
          {t(player.video ? "replay.show_frames" : "replay.show_video")} <CommandKey command={replayCommands.video} />
        </button>
      )}
      {video === "pending" && (
        <span className={styles.hint} role="status">
          {t("replay.video_pending")}
        </span>
      )}
      <button
        type="button"
        className={styles.toggle}
        onClick={() => move("faster")}
        aria-label={t("replay.speed", { speed: player.speed })}
      >
        {new Intl.NumberFormat(language).format(player.speed)}× <CommandKey command={replayCommands.faster} />
      </button>
    </div>
  );
}

type ControlProps = {
  name: "first" | "previous" | "play" | "next" | "last";
  move: (move: Move) => void;
  pressed?: boolean;
  children: ReactNode;
};

function Control({ name, move, pressed, children }: ControlProps) {
  const { t } = useI18n();
  const command = replayCommands[name];
  return (
    <Tooltip
      label={
        <>
          {t(command.name)} <CommandKey command={command} />
        </>
      }
    >
      <ActionIcon aria-label={t(command.name)} aria-pressed={pressed} onClick={() => move(name)}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

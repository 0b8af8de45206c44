/** The episode's video in step with the timeline: who moves the one moves the other. */
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState, type RefObject } from "react";

import type { RecordingPart } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { letterbox } from "@/shared/markers/mapping";
import { MarkerLayer } from "@/shared/markers/marker-layer";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import type { Move, Player } from "./player";
import { isActing, positionOf, stepAt, type VideoPosition } from "./recording";
import styles from "./replay.module.css";

type Props = { parts: readonly RecordingPart[]; step: Step; player: Player; move: (move: Move) => void; blobUrl: BlobUrl };

export function RecordingView({ parts, step, player, move, blobUrl }: Props) {
  const { t } = useI18n();
  const { ref, width, height } = useElementSize();
  const [position, setPosition] = useVideoPosition(parts, player);
  const [now, setNow] = useState(position.at);
  const part = parts[position.part];
  const video = useVideoElement(position, player, move);

  const picture = { width: step.before.width, height: step.before.height };
  const box = letterbox({ width, height }, picture);
  const acting = isActing(parts, { part: position.part, at: now }, step.index);
  const onTime = (at: number) => {
    setNow(at);
    const visibleStep = stepAt(parts, { part: position.part, at });
    if (player.playing && visibleStep !== null && visibleStep !== player.step) move({ reached: visibleStep });
  };
  const onEnded = () => {
    if (position.part + 1 < parts.length) setPosition({ part: position.part + 1, at: 0 });
    else move("stop");
  };

  if (!part) return null;
  return (
    <div className={styles.recording}>
      <div className={styles.screen} ref={ref}>
        <div className={styles.box} style={{ left: box.left, top: box.top, width: box.width, height: box.height }}>
          <video
            ref={video}
            className={styles.video}
            src={blobUrl(part.sha256)}
            muted
            playsInline
            preload="auto"
            aria-label={t("replay.video_of", { number: step.index + 1 })}
            onTimeUpdate={({ currentTarget }) => onTime(currentTarget.currentTime)}
            onSeeked={({ currentTarget }) => onTime(currentTarget.currentTime)}
            onEnded={onEnded}
          />
          <MarkerLayer
            marks={acting ? [{ key: step.command_id, action: step.action, tone: "done" }] : []}
            picture={picture}
            displaySize={box}
            focus={null}
          />
        </div>
      </div>
      <SeekBar
        part={part}
        now={now}
        onSeek={(at) => {
          setPosition({ part: position.part, at });
          const visibleStep = stepAt(parts, { part: position.part, at });
          if (visibleStep !== null) move({ reached: visibleStep });
        }}
      />
    </div>
  );
}

/** Where the video is sent: to the step that is chosen by hand, wherever the person drags to, on to the next part. */
function useVideoPosition(parts: readonly RecordingPart[], player: Player): [VideoPosition, (position: VideoPosition) => void] {
  const target = () => positionOf(parts, player.step, player.after);
  const [position, setPosition] = useState<VideoPosition>(() => target() ?? { part: 0, at: 0 });
  const [jumps, setJumps] = useState(player.jumps);
  if (jumps !== player.jumps) {
    setJumps(player.jumps);
    const next = target();
    if (next) setPosition(next);
  }
  return [position, setPosition];
}

/** The element, kept at its place, running or not, at the player's speed. */
function useVideoElement(position: VideoPosition, player: Player, move: (move: Move) => void): RefObject<HTMLVideoElement | null> {
  const video = useRef<HTMLVideoElement>(null);

  useEffect(() => {
    if (video.current) video.current.currentTime = position.at;
  }, [position]);

  useEffect(() => {
    if (!video.current) return;
    video.current.playbackRate = player.speed;
    video.current.defaultPlaybackRate = player.speed; // what the next part begins with
  }, [player.speed]);

  useEffect(() => {
    if (!player.playing) video.current?.pause();
    else {
      video.current?.play().catch((error: unknown) => {
        // Interrupted by the next move: that one says how it goes on.
        if (!(error instanceof DOMException && error.name === "AbortError")) move("stop");
      });
    }
  }, [position.part, player.playing, move]);

  return video;
}

function SeekBar({ part, now, onSeek }: { part: RecordingPart; now: number; onSeek: (at: number) => void }) {
  const { t } = useI18n();
  const end = part.seconds ?? Math.max(now, part.steps.at(-1)?.ends ?? 0);
  return (
    <div className={styles.seek}>
      <input
        type="range"
        aria-label={t("replay.time")}
        aria-valuetext={t("replay.time_of", { now: formatTime(now), end: formatTime(end) })}
        min={0}
        max={end}
        step={0.1}
        value={Math.min(now, end)}
        onChange={({ currentTarget }) => onSeek(Number(currentTarget.value))}
      />
      <span className={styles.clock}>{t("replay.time_of", { now: formatTime(now), end: formatTime(end) })}</span>
    </div>
  );
}

const formatTime = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

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
import { isActing, placeOf, stepAt, type Place } from "./recording";
import styles from "./replay.module.css";

type Props = { parts: readonly RecordingPart[]; step: Step; player: Player; move: (move: Move) => void; blobUrl: BlobUrl };

export function RecordingView({ parts, step, player, move, blobUrl }: Props) {
  const { t } = useI18n();
  const { ref, width, height } = useElementSize();
  const [place, setPlace] = usePlace(parts, player);
  const [now, setNow] = useState(place.at);
  const part = parts[place.part];
  const video = useElement(place, player, move);

  const picture = { width: step.before.width, height: step.before.height };
  const box = letterbox({ width, height }, picture);
  const acting = isActing(parts, { part: place.part, at: now }, step.index);
  const onTime = (at: number) => {
    setNow(at);
    const shown = stepAt(parts, { part: place.part, at });
    if (player.playing && shown !== null && shown !== player.step) move({ seen: shown });
  };
  const onEnded = () => {
    if (place.part + 1 < parts.length) setPlace({ part: place.part + 1, at: 0 });
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
      <Seek
        part={part}
        now={now}
        onSeek={(at) => {
          setPlace({ part: place.part, at });
          const shown = stepAt(parts, { part: place.part, at });
          if (shown !== null) move({ seen: shown });
        }}
      />
    </div>
  );
}

/** Where the video is sent: to the step that is chosen by hand, wherever the person drags to, on to the next part. */
function usePlace(parts: readonly RecordingPart[], player: Player): [Place, (place: Place) => void] {
  const target = () => placeOf(parts, player.step, player.after);
  const [place, setPlace] = useState<Place>(() => target() ?? { part: 0, at: 0 });
  const [jumps, setJumps] = useState(player.jumps);
  if (jumps !== player.jumps) {
    setJumps(player.jumps);
    const next = target();
    if (next) setPlace(next);
  }
  return [place, setPlace];
}

/** The element, kept at its place, running or not, at the player's speed. */
function useElement(place: Place, player: Player, move: (move: Move) => void): RefObject<HTMLVideoElement | null> {
  const video = useRef<HTMLVideoElement>(null);

  useEffect(() => {
    if (video.current) video.current.currentTime = place.at;
  }, [place]);

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
  }, [place.part, player.playing, move]);

  return video;
}

function Seek({ part, now, onSeek }: { part: RecordingPart; now: number; onSeek: (at: number) => void }) {
  const { t } = useI18n();
  const end = part.seconds ?? Math.max(now, part.steps.at(-1)?.ends ?? 0);
  return (
    <div className={styles.seek}>
      <input
        type="range"
        aria-label={t("replay.time")}
        aria-valuetext={t("replay.time_of", { now: clock(now), end: clock(end) })}
        min={0}
        max={end}
        step={0.1}
        value={Math.min(now, end)}
        onChange={({ currentTarget }) => onSeek(Number(currentTarget.value))}
      />
      <span className={styles.clock}>{t("replay.time_of", { now: clock(now), end: clock(end) })}</span>
    </div>
  );
}

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

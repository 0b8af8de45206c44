/** The live picture in all the room there is, what will happen marked on it, and the hand that points. */
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";

import { MarkerLayer } from "@/shared/markers/marker-layer";
import { letterbox, type Size } from "@/shared/markers/mapping";
import { lastPointed } from "@/shared/markers/marker";
import { useI18n } from "@/shared/i18n/i18n";

import { useDesk } from "@/features/annotate/use-desk";
import { StageOverlay } from "@/features/annotate/states/stage-overlay";
import { marksOf } from "./marks";
import { PointerLayer } from "./pointer-layer";
import { TakeoverLayer } from "./takeover-layer";
import { TextObservation } from "./text-observation";
import type { LiveStream } from "./use-stream";
import styles from "./stage.module.css";

export function Stage({ stream, blobUrl }: { stream: LiveStream; blobUrl: (sha256: string) => string }) {
  const { t } = useI18n();
  const desk = useDesk();
  const { episode, looking } = desk;
  const { ref, width, height } = useElementSize();
  const [still, setStill] = useState<HTMLImageElement | null>(null);
  const past = looking === null ? null : (episode.steps[looking] ?? null);
  const observation = past?.before ?? episode.observation;
  const picture: Size = { width: observation?.width ?? 0, height: observation?.height ?? 0 };
  const box = letterbox({ width, height }, picture);
  const showsLive = past === null && stream.surface !== null;
  const takeover = episode.takeover && desk.mine;
  const frame = takeover ? "takeover" : episode.autopilot ? "autopilot" : undefined;

  return (
    <section ref={ref} className={styles.stage} aria-label={t("stage.label")} data-frame={frame}>
      {observation !== null && observation.screenshot === null && <TextObservation observation={observation} />}
      <div
        className={styles.picture}
        style={{ left: box.left, top: box.top, width: box.width, height: box.height }}
        hidden={picture.width === 0}
      >
        {observation?.screenshot && (
          <img
            ref={setStill}
            className={styles.still}
            src={blobUrl(observation.screenshot.sha256)}
            alt={past ? t("stage.past", { number: past.index + 1 }) : t("stage.latest")}
            draggable={false}
          />
        )}
        <div ref={stream.host} className={styles.live} hidden={!showsLive} />
        <MarkerLayer marks={marksOf(desk)} picture={picture} shown={box} focus={lastPointed(episode.steps.map(({ action }) => action))} />
        {takeover ? (
          <TakeoverLayer picture={picture} />
        ) : (
          <PointerLayer picture={picture} shown={box} source={showsLive ? stream.surface : still} />
        )}
      </div>
      <StageOverlay />
    </section>
  );
}

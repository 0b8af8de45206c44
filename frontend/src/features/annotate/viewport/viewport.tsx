/** The live picture in all the room there is, what will happen marked on it, and the hand that points. */
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";

import type { Observation } from "@/generated/vocabulary";
import { PageEvents } from "@/features/annotate/browser/page-events";
import { StageOverlay } from "@/features/annotate/states/viewport-overlay";
import { Dock } from "@/features/annotate/panels/dock";
import { hasScreen } from "@/features/annotate/panels/panels";
import type { LiveStream } from "@/streams/use-stream";
import { useDesk, type Desk } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";
import { MarkerLayer } from "@/shared/markers/marker-layer";
import { isCrisp, letterbox, type Size } from "@/shared/markers/mapping";
import { lastPointed } from "@/shared/markers/marker";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import { marksOf } from "./marks";
import { PointerLayer } from "./pointer-layer";
import { shownIn } from "./shown";
import { TakeoverLayer } from "./takeover-layer";
import { TextObservation } from "./text-observation";
import styles from "./viewport.module.css";

interface Props {
  readonly stream: LiveStream;
  readonly blobUrl: BlobUrl;
}

export function Stage({ stream, blobUrl }: Props) {
  const { t } = useI18n();
  const desk = useDesk();
  const { ref, width, height } = useElementSize();
  const observation = shownIn(desk);
  return (
    <section ref={ref} className={styles.stage} aria-label={t("stage.label")} data-frame={frameOf(desk)}>
      {hasScreen(desk.episode) ? (
        <Picture observation={observation} room={{ width, height }} stream={stream} blobUrl={blobUrl} />
      ) : (
        <Instead observation={observation} />
      )}
      <PageEvents />
      <StageOverlay />
    </section>
  );
}

/** Where the machine has no screen: its panels, or what it had said before the step looked at. */
function Instead({ observation }: { observation: Observation | null }) {
  const { looking, panel, stageRef } = useDesk();
  return (
    <div ref={stageRef} className={styles.instead} tabIndex={-1}>
      {looking === null && panel !== null ? <Dock panel={panel} /> : observation && <TextObservation observation={observation} />}
    </div>
  );
}

/** The frame around the stage that says who has the machine. */
function frameOf({ episode, mine }: Desk): "takeover" | "autopilot" | undefined {
  if (episode.takeover && mine) return "takeover";
  return episode.autopilot ? "autopilot" : undefined;
}

/** It is always there, though hidden without a picture, since the stream draws into it. */
function Picture({ observation, room, stream, blobUrl }: Props & { observation: Observation | null; room: Size }) {
  const desk = useDesk();
  const { episode, looking } = desk;
  const [still, setStill] = useState<HTMLImageElement | null>(null);
  const { hostRef, surface } = stream;
  const picture: Size = { width: observation?.width ?? 0, height: observation?.height ?? 0 };
  const box = letterbox(room, picture);
  const live = looking === null ? surface : null;
  return (
    <div className={styles.picture} style={box} hidden={picture.width === 0} data-crisp={isCrisp(box, picture) || undefined}>
      <Still observation={observation} blobUrl={blobUrl} onPicture={setStill} />
      <div ref={hostRef} className={styles.live} hidden={live === null} />
      <MarkerLayer marks={marksOf(desk)} picture={picture} shown={box} focus={lastPointed(episode.steps.map(({ action }) => action))} />
      {frameOf(desk) === "takeover" ? (
        <TakeoverLayer picture={picture} />
      ) : (
        <PointerLayer picture={picture} shown={box} source={live ?? still} />
      )}
    </div>
  );
}

interface StillProps {
  readonly observation: Observation | null;
  readonly blobUrl: BlobUrl;
  readonly onPicture: (picture: HTMLImageElement | null) => void;
}

/** The stored frame: what the past shows, and what stands under the live picture until its first frame. */
function Still({ observation, blobUrl, onPicture }: StillProps) {
  const { t } = useI18n();
  const { looking } = useDesk();
  if (observation?.screenshot == null) return null;
  return (
    <img
      ref={onPicture}
      className={styles.still}
      src={blobUrl(observation.screenshot.sha256)}
      alt={looking === null ? t("stage.latest") : t("stage.past", { number: looking + 1 })}
      draggable={false}
    />
  );
}

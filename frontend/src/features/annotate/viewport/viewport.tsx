/** The live picture in all the room there is, what will happen marked on it, and the hand that points. */
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";

import type { Observation, Point } from "@/generated/vocabulary";
import { PageEvents } from "@/features/annotate/browser/page-events";
import { ViewportOverlay } from "@/features/annotate/states/viewport-overlay";
import { PanelDock } from "@/features/annotate/panels/dock";
import { hasScreen } from "@/features/annotate/panels/panels";
import type { LiveStream } from "@/streams/use-stream";
import { useWorkspace, type Workspace } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";
import { MarkerLayer } from "@/shared/markers/marker-layer";
import { isCrisp, letterbox, type Size } from "@/shared/markers/mapping";
import { useCaret } from "@/shared/markers/use-caret";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import { marksOf, viewedObservation } from "./viewed-step";
import { UNZOOMED, zoomBy, type FingerMove, type Zoom } from "./fingers";
import { PointerLayer } from "./pointer-layer";
import { TakeoverLayer } from "./takeover-layer";
import { TextObservation } from "./text-observation";
import styles from "./viewport.module.css";

interface Props {
  readonly stream: LiveStream;
  readonly blobUrl: BlobUrl;
}

export function Viewport({ stream, blobUrl }: Props) {
  const { t } = useI18n();
  const workspace = useWorkspace();
  const { ref, width, height } = useElementSize();
  const observation = viewedObservation(workspace);
  return (
    <section ref={ref} className={styles.viewport} aria-label={t("viewport.label")} data-frame={frameOf(workspace)}>
      {hasScreen(workspace.episode) ? (
        <Picture observation={observation} room={{ width, height }} stream={stream} blobUrl={blobUrl} />
      ) : (
        <ScreenlessView observation={observation} />
      )}
      <PageEvents />
      <ViewportOverlay />
    </section>
  );
}

/** Where the machine has no screen: its panels, or what it had said before the step looked at. */
function ScreenlessView({ observation }: { observation: Observation | null }) {
  const { viewedStep, panel, viewportRef } = useWorkspace();
  return (
    <div ref={viewportRef} className={styles.instead} tabIndex={-1}>
      {viewedStep === null && panel !== null ? <PanelDock panel={panel} /> : observation && <TextObservation observation={observation} />}
    </div>
  );
}

/** The frame around the stage that says who has the machine. */
function frameOf({ episode, canAct }: Workspace): "takeover" | "autopilot" | undefined {
  if (episode.takeover && canAct) return "takeover";
  return episode.autopilot ? "autopilot" : undefined;
}

/** It is always there, though hidden without a picture, since the stream draws into it. */
function Picture({ observation, room, stream, blobUrl }: Props & { observation: Observation | null; room: Size }) {
  const workspace = useWorkspace();
  const { episode, viewedStep } = workspace;
  const [zoom, setZoom] = useState(UNZOOMED);
  const [still, setStill] = useState<HTMLImageElement | null>(null);
  const { hostRef, surface } = stream;
  const picture: Size = { width: observation?.width ?? 0, height: observation?.height ?? 0 };
  const box = letterbox(room, picture);
  const live = viewedStep === null ? surface : null;
  const focus = useCaret(episode.steps.slice(0, viewedStep ?? undefined), blobUrl);
  const zoomView = (move: Extract<FingerMove, { kind: "zoom" }>, { x, y }: Point) => setZoom((before) => zoomBy(before, move, { x, y }, box));
  return (
    <div className={styles.picture} style={{ ...box, transform: transformOf(zoom) }} hidden={picture.width === 0} data-crisp={isCrisp(box, picture) || undefined}>
      <StoredFrame observation={observation} blobUrl={blobUrl} onPicture={setStill} />
      <div ref={hostRef} className={styles.live} hidden={live === null} />
      <MarkerLayer marks={marksOf(workspace)} picture={picture} displaySize={box} focus={focus} />
      {frameOf(workspace) === "takeover" ? (
        <TakeoverLayer picture={picture} onZoom={zoomView} />
      ) : (
        <PointerLayer
          picture={picture}
          displaySize={box}
          source={live ?? still}
          onZoom={zoomView}
        />
      )}
    </div>
  );
}

/** None where the picture has its own size, so that its pixels stay crisp. */
function transformOf({ scale, x, y }: Zoom): string | undefined {
  return scale === 1 ? undefined : `translate(${x}px, ${y}px) scale(${scale})`;
}

interface StoredFrameProps {
  readonly observation: Observation | null;
  readonly blobUrl: BlobUrl;
  readonly onPicture: (picture: HTMLImageElement | null) => void;
}

/** The stored frame: what the past shows, and what stands under the live picture until its first frame. */
function StoredFrame({ observation, blobUrl, onPicture }: StoredFrameProps) {
  const { t } = useI18n();
  const { viewedStep } = useWorkspace();
  if (observation?.screenshot == null) return null;
  return (
    <img
      ref={onPicture}
      className={styles.still}
      src={blobUrl(observation.screenshot.sha256)}
      alt={viewedStep === null ? t("viewport.latest") : t("viewport.past", { number: viewedStep + 1 })}
      draggable={false}
    />
  );
}

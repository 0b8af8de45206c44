/** Where the pointer is: crosshair, pixel coordinates, and a loupe that shows the pixels as they are. */
import { useEffect, useRef } from "react";

import type { Point } from "@/generated/vocabulary";
import { toDisplay, type Size } from "@/shared/markers/mapping";

import styles from "./crosshair.module.css";

/** The loupe shows this many pixels of the picture across, each this many CSS pixels wide. */
const ACROSS = 25;
const ZOOM = 5;
const SIDE = ACROSS * ZOOM;
const GAP = 18;

interface Props {
  readonly pixel: Point;
  readonly picture: Size;
  readonly displaySize: Size;
  /** What the loupe looks at; null where there is nothing to look at. */
  readonly source: CanvasImageSource | null;
}

export function Crosshair({ pixel, picture, displaySize, source }: Props) {
  const at = toDisplay(pixel, displaySize, picture);
  const left = at.x + GAP + SIDE > displaySize.width ? at.x - GAP - SIDE : at.x + GAP;
  const top = at.y + GAP + SIDE + 20 > displaySize.height ? at.y - GAP - SIDE - 20 : at.y + GAP;
  return (
    <div className={styles.crosshair} aria-hidden>
      <span className={styles.vertical} style={{ left: at.x }} />
      <span className={styles.horizontal} style={{ top: at.y }} />
      <span className={styles.loupe} style={{ left, top, width: SIDE }}>
        {source !== null && <Loupe pixel={pixel} picture={picture} source={source} />}
        <span className={styles.coordinates}>
          {pixel.x}, {pixel.y}
        </span>
      </span>
    </div>
  );
}

function Loupe({ pixel, picture, source }: Pick<Props, "pixel" | "picture"> & { source: CanvasImageSource }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      const context = canvas.current?.getContext("2d");
      if (context) magnify(context, source, pixel, picture);
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, [pixel, picture, source]);
  return <canvas ref={canvas} width={SIDE} height={SIDE} />;
}

/** Draws the surroundings of a pixel, that pixel in the middle with a frame around it. */
function magnify(context: CanvasRenderingContext2D, source: CanvasImageSource, pixel: Point, picture: Size): void {
  const scale = sizeOf(source).width / picture.width || 1;
  const half = (ACROSS - 1) / 2;
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#000";
  context.fillRect(0, 0, SIDE, SIDE);
  context.drawImage(
    source,
    (pixel.x - half) * scale,
    (pixel.y - half) * scale,
    ACROSS * scale,
    ACROSS * scale,
    0,
    0,
    SIDE,
    SIDE,
  );
  context.lineWidth = 1;
  context.strokeStyle = "#000";
  context.strokeRect(half * ZOOM - 1.5, half * ZOOM - 1.5, ZOOM + 3, ZOOM + 3);
  context.strokeStyle = "#ff8a3d";
  context.strokeRect(half * ZOOM - 0.5, half * ZOOM - 0.5, ZOOM + 1, ZOOM + 1);
}

function sizeOf(source: CanvasImageSource): { width: number } {
  if (source instanceof HTMLVideoElement) return { width: source.videoWidth };
  if (source instanceof HTMLImageElement) return { width: source.naturalWidth };
  return source instanceof HTMLCanvasElement ? source : { width: 0 };
}

/** An observation as large as the room allows, with markers where actions land; its text where it has no picture. */
import { useElementSize } from "@mantine/hooks";

import type { Observation, Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { letterbox } from "@/shared/markers/mapping";
import { MarkerLayer, type Mark } from "@/shared/markers/marker-layer";

import styles from "./frame.module.css";
import { PointHandles } from "./point-handles";
import type { BlobUrl } from "./thumbnail";

type Props = {
  observation: Observation | null;
  blobUrl: BlobUrl;
  alt: string;
  marks?: readonly Mark[];
  /** Where typed text lands: the place pointed at last. */
  focus?: Point | null;
  /** Points that can be moved on the picture, as `pointsOf` lists them. */
  handles?: { readonly points: readonly Point[]; readonly onMove: (index: number, to: Point) => void };
};

const NO_SIZE = { width: 0, height: 0 };

export function Frame({ observation, blobUrl, alt, marks = [], focus = null, handles }: Props) {
  const { t } = useI18n();
  const { ref, width, height } = useElementSize();
  const picture = observation ?? NO_SIZE;
  const box = letterbox({ width, height }, picture);
  const screenshot = observation?.screenshot;
  return (
    <div className={styles.room} ref={ref}>
      {screenshot ? (
        <div className={styles.box} style={{ left: box.left, top: box.top, width: box.width, height: box.height }}>
          <img className={styles.picture} src={blobUrl(screenshot.sha256)} alt={alt} draggable={false} />
          <MarkerLayer marks={marks} picture={picture} displaySize={box} focus={focus} />
          {handles && <PointHandles {...handles} picture={picture} displaySize={box} />}
        </div>
      ) : (
        <pre className={styles.text}>{observation?.text ?? t("thumbnail.none")}</pre>
      )}
    </div>
  );
}

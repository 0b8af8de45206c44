/** An observation as large as the room allows, with markers where actions land; its text where it has no picture. */
import { useElementSize } from "@mantine/hooks";

import type { Observation, Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { letterbox } from "@/shared/markers/mapping";
import { MarkerLayer, type Mark } from "@/shared/markers/marker-layer";

import styles from "./frame.module.css";
import type { BlobUrl } from "./thumbnail";

type Props = {
  observation: Observation | null;
  blobUrl: BlobUrl;
  alt: string;
  marks?: readonly Mark[];
  /** Where typed text lands: the place pointed at last. */
  focus?: Point | null;
};

export function Frame({ observation, blobUrl, alt, marks = [], focus = null }: Props) {
  const { t } = useI18n();
  const { ref, width, height } = useElementSize();
  const picture = { width: observation?.width ?? 0, height: observation?.height ?? 0 };
  const box = letterbox({ width, height }, picture);
  const screenshot = observation?.screenshot;
  return (
    <div className={styles.room} ref={ref}>
      {screenshot ? (
        <div className={styles.box} style={{ left: box.left, top: box.top, width: box.width, height: box.height }}>
          <img className={styles.picture} src={blobUrl(screenshot.sha256)} alt={alt} draggable={false} />
          <MarkerLayer marks={marks} picture={picture} displaySize={box} focus={focus} />
        </div>
      ) : (
        <pre className={styles.text}>{observation?.text ?? t("thumbnail.none")}</pre>
      )}
    </div>
  );
}

/** A small picture of an observation, or words where it has none. */
import type { Observation } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./thumbnail.module.css";

/** Where an episode's pictures are: sha256 → address. */
export type BlobUrl = (sha256: string) => string;

type Props = {
  observation: Observation | null;
  blobUrl: BlobUrl;
  alt: string;
  /** Pixels of the observation to dot: where an action touched. */
  points?: readonly { x: number; y: number }[];
};

/** As much of an output's end as a tile can show (characters). */
const MAX_TEXT = 400;

export function Thumbnail({ observation, blobUrl, alt, points = [] }: Props) {
  const { t } = useI18n();
  const screenshot = observation?.screenshot;
  if (!screenshot) {
    const text = observation?.text;
    return (
      <span className={text == null ? styles.none : styles.text} aria-hidden={alt === ""}>
        {text?.slice(-MAX_TEXT) ?? t("thumbnail.none")}
      </span>
    );
  }
  return (
    <span className={styles.frame}>
      <img
        className={styles.picture}
        src={blobUrl(screenshot.sha256)}
        width={observation.width}
        height={observation.height}
        alt={alt}
        loading="lazy"
        fetchPriority="low"
        decoding="async"
        draggable={false}
      />
      <svg className={styles.points} viewBox={`0 0 ${observation.width} ${observation.height}`} aria-hidden>
        {points.map(({ x, y }, index) => (
          <path key={index} d={`M${x} ${y}h0`} />
        ))}
      </svg>
    </span>
  );
}

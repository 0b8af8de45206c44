/** A coloured dot with words beside it: colour alone never carries the meaning. */
import type { ReactNode } from "react";

import styles from "./status-dot.module.css";

export type Tone = "ok" | "busy" | "warn" | "danger" | "off";

export function StatusDot({ tone, pulse = false, children }: { tone: Tone; pulse?: boolean; children: ReactNode }) {
  return (
    <span className={styles.status}>
      <span className={styles.dot} data-tone={tone} data-pulse={pulse || undefined} aria-hidden />
      {children}
    </span>
  );
}

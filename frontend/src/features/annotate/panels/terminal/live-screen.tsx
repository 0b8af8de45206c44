/** The live screen of one session: to be looked at, or with keys going straight to it, each burst a step. */
import { useEffect, useRef, type KeyboardEvent } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { needsThoughtFirst } from "@/shared/steps";
import { DOUBLE_ESCAPE_MS } from "@/features/annotate/viewport/takeover-keys";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { KeystrokeBatcher } from "./keystroke-batcher";
import type { Screens } from "./screens";
import styles from "./terminal.module.css";

interface Props {
  readonly session: string;
  readonly screens: Screens | null;
  readonly raw: boolean;
  readonly onRaw: (raw: boolean) => void;
}

export function LiveScreen({ session, screens, raw, onRaw }: Props) {
  const { t } = useI18n();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => (screens === null || host.current === null ? undefined : screens.show(session, host.current)), [screens, session]);
  useKeystrokes(session, screens, raw);
  const escapedAt = useRef(-Infinity);
  /** On the way down: the terminal lets no key it knows come up again. */
  const escape = (event: KeyboardEvent) => {
    if (!raw || event.key !== "Escape" || event.repeat) return;
    if (event.timeStamp - escapedAt.current < DOUBLE_ESCAPE_MS) onRaw(false);
    escapedAt.current = event.timeStamp;
  };
  const captureKeys = (event: KeyboardEvent) => {
    if (raw) event.stopPropagation();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the keys belong to the terminal inside
    <div className={styles.live} data-raw={raw || undefined} onKeyDownCapture={escape} onKeyDown={captureKeys}>
      <div ref={host} className={styles.terminal} role="group" aria-label={t("terminal.screen", { session })} />
      {raw && <p className={styles.hint}>{t("terminal.raw.on")}</p>}
    </div>
  );
}

/** Keys typed on the screen, while `raw`. */
function useKeystrokes(session: string, screens: Screens | null, raw: boolean): void {
  const { sendKeystrokes, episode, thoughtRef, focusOn } = useWorkspace();
  const batcherRef = useRef<KeystrokeBatcher>(null);
  const send = useRef(sendKeystrokes);
  useEffect(() => {
    send.current = sendKeystrokes;
  });
  useEffect(() => {
    if (screens === null || !raw) return;
    const batcher = new KeystrokeBatcher((text) => send.current({ kind: "type_terminal", session, text }));
    batcherRef.current = batcher;
    screens.listen(session, (text) => batcher.push(text));
    screens.focus(session);
    return () => {
      batcherRef.current = null;
      screens.listen(session, null);
      batcher.drop();
    };
  }, [screens, session, raw]);
  useEffect(() => batcherRef.current?.setBusy(episode.pending !== null), [episode.pending]);
  const missing = needsThoughtFirst(episode) && raw;
  const wasMissing = useRef(false);
  useEffect(() => {
    if (missing && !wasMissing.current) focusOn(thoughtRef);
    wasMissing.current = missing;
  }, [missing, focusOn, thoughtRef]);
}

/** The live screen of one session: to be looked at, or with keys going straight to it, each burst a step. */
import { useEffect, useRef, type KeyboardEvent } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { ESCAPE_WITHIN } from "@/features/annotate/viewport/takeover";
import { useDesk } from "@/features/annotate/use-workspace";

import { Bursts } from "./keystroke-batcher";
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
  useTyping(session, screens, raw);
  const escapedAt = useRef(-Infinity);
  /** On the way down: the terminal lets no key it knows come up again. */
  const escape = (event: KeyboardEvent) => {
    if (!raw || event.key !== "Escape" || event.repeat) return;
    if (event.timeStamp - escapedAt.current < ESCAPE_WITHIN) onRaw(false);
    escapedAt.current = event.timeStamp;
  };
  const keep = (event: KeyboardEvent) => {
    if (raw) event.stopPropagation();
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- the keys belong to the terminal inside
    <div className={styles.live} data-raw={raw || undefined} onKeyDownCapture={escape} onKeyDown={keep}>
      <div ref={host} className={styles.terminal} role="group" aria-label={t("terminal.screen", { session })} />
      {raw && <p className={styles.hint}>{t("terminal.raw.on")}</p>}
    </div>
  );
}

/** Keys typed on the screen, while `raw`. */
function useTyping(session: string, screens: Screens | null, raw: boolean): void {
  const { burst, episode, thoughtRef, composeOn } = useDesk();
  const bursts = useRef<Bursts>(null);
  const send = useRef(burst);
  useEffect(() => {
    send.current = burst;
  });
  useEffect(() => {
    if (screens === null || !raw) return;
    const typed = new Bursts((text) => send.current({ kind: "type_terminal", session, text }));
    bursts.current = typed;
    screens.listen(session, (text) => typed.push(text));
    screens.focus(session);
    return () => {
      bursts.current = null;
      screens.listen(session, null);
      typed.drop();
    };
  }, [screens, session, raw]);
  useEffect(() => bursts.current?.setBusy(episode.pending !== null), [episode.pending]);
  const missing = episode.thought_required && raw;
  const asked = useRef(false);
  useEffect(() => {
    if (missing && !asked.current) composeOn(thoughtRef);
    asked.current = missing;
  }, [missing, composeOn, thoughtRef]);
}

/** One session of the wall: its picture, annotator and task, and whether it asks for help. */
import { useCallback, useSyncExternalStore, type FocusEvent } from "react";
import { Link } from "react-router";

import type { WallSession } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { RateText } from "@/shared/ui/tables/rate";

import type { ThumbnailStore } from "./thumbnail-store";
import type { Observe } from "./use-in-view";
import styles from "./wall.module.css";

interface Props {
  readonly session: WallSession;
  readonly now: number;
  readonly store: ThumbnailStore;
  readonly observe: Observe;
  /** The one that Tab leads to. */
  readonly current: boolean;
  readonly onFocus: (event: FocusEvent) => void;
}

export function Tile({ session, now, store, observe, current, onFocus }: Props) {
  const { t, relative } = useI18n();
  const { id, annotator, instruction, pool, steps, help_requested: help } = session;
  return (
    <li ref={observe} data-key={id} className={styles.tile} data-help={help || undefined}>
      <Link to={`/desk/${id}`} className={styles.link} tabIndex={current ? 0 : -1} onFocus={onFocus}>
        <Picture session={session} store={store} />
        <span className={styles.badges}>
          <SessionBadges session={session} />
        </span>
        <span className={styles.caption}>
          <strong className={styles.who}>{annotator}</strong>
          <span className={styles.task} title={instruction}>
            {instruction}
          </span>
          <span className={styles.note}>
            <span>{pool}</span>
            <span>{relative(session.last_step_at ?? session.created_at, now)}</span>
          </span>
          <span className={styles.note}>
            <span>{t("wall.steps", { count: steps })}</span>
            <span>
              {t("wall.override")} <RateText rate={session.override} bare />
            </span>
          </span>
        </span>
      </Link>
    </li>
  );
}

function SessionBadges({ session: { help_requested: help, status, attended } }: { session: WallSession }) {
  const { t } = useI18n();
  return (
    <>
      {help && <Badge tone="danger">{t("wall.help")}</Badge>}
      {status === "paused" && <Badge tone="warn">{t("status.paused")}</Badge>}
      {status === "warming" && <Badge tone="neutral">{t("status.warming")}</Badge>}
      {!attended && <Badge tone="neutral">{t("wall.away")}</Badge>}
    </>
  );
}

function Picture({ session: { id, annotator, text, pictured }, store }: { session: WallSession; store: ThumbnailStore }) {
  const { t } = useI18n();
  const subscribe = useCallback((listener: () => void) => store.subscribe(id, listener), [store, id]);
  const url = useSyncExternalStore(subscribe, () => store.url(id));
  if (url !== null) return <img className={styles.picture} src={url} alt={t("wall.screen_of", { name: annotator })} draggable={false} />;
  if (text !== "") return <span className={styles.terminal}>{text}</span>;
  return <span className={styles.none}>{t(pictured ? "wall.picture_comes" : "wall.no_picture")}</span>;
}

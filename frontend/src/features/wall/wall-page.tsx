/** The live sessions as small pictures; those that wait for help come first. A session opens in the workspace. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { useMemo, useState, type KeyboardEvent } from "react";

import type { WallPage as Wall } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { wallQuery } from "./api";
import { columnsOf, placeAfter } from "./grid-keys";
import { Tile } from "./tile";
import { useInView } from "./use-in-view";
import { useThumbnails } from "./use-thumbnails";
import styles from "./wall.module.css";

export const prefetch: Prefetch = ({ client }) => [client.query(wallQuery(1))];

export default function WallPage() {
  const { t } = useI18n();
  const [page, setPage] = useState(1);
  const wall = useQuery(wallQuery(page));
  return (
    <div className={styles.page}>
      <PagePath crumbs={[{ label: t("wall.title") }]} />
      {wall.isPending && <Loading />}
      {wall.isError && !wall.data && <ErrorState error={wall.error} onRetry={() => void wall.refetch()} />}
      {wall.data && <Sessions wall={wall.data} stale={wall.isError} page={page} onPage={setPage} />}
    </div>
  );
}

interface Props {
  readonly wall: Wall;
  /** The server does not answer; `wall` is its last answer. */
  readonly stale: boolean;
  readonly page: number;
  readonly onPage: (page: number) => void;
}

function Sessions({ wall, stale, page, onPage }: Props) {
  const { t, time } = useI18n();
  const [running, setRunning] = useState(true);
  const { inView, observe } = useInView();
  const listed = useMemo(() => wall.items.map(({ id }) => id), [wall.items]);
  const pictured = useMemo(
    () => wall.items.filter(({ id, pictured }) => pictured && inView.has(id)).map(({ id }) => id),
    [wall.items, inView],
  );
  const store = useThumbnails(listed, pictured, running);
  if (wall.total === 0) return <Empty title={t("wall.none")}>{t("wall.none.help")}</Empty>;
  return (
    <>
      <div className={styles.head}>
        <p role="status" className={styles.summary} data-waiting={wall.waiting > 0 || undefined}>
          {t("wall.sessions", { count: wall.total })}
          {wall.waiting > 0 && <strong>{t("wall.waiting", { count: wall.waiting })}</strong>}
          {stale && <span className={styles.stale}>{t("common.stale", { time: time(wall.at) })}</span>}
        </p>
        <Button
          variant="default"
          size="xs"
          leftSection={running ? <Pause size={13} aria-hidden /> : <Play size={13} aria-hidden />}
          onClick={() => setRunning(!running)}
        >
          {t(running ? "wall.pause" : "wall.resume")}
        </Button>
      </div>
      <Grid wall={wall} store={store} observe={observe} />
      {(page > 1 || wall.next !== null) && (
        <nav className={styles.pages} aria-label={t("episodes.pages")}>
          <Button variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
            {t("common.previous_page")}
          </Button>
          <span>{t("episodes.page", { page })}</span>
          <Button variant="default" disabled={wall.next === null} onClick={() => onPage(wall.next ?? page)}>
            {t("common.next_page")}
          </Button>
        </nav>
      )}
    </>
  );
}

function Grid({ wall, store, observe }: { wall: Wall } & Pick<Parameters<typeof Tile>[0], "store" | "observe">) {
  const { t } = useI18n();
  const [focused, setFocused] = useState<string | null>(null);
  const current = wall.items.some(({ id }) => id === focused) ? focused : wall.items[0]?.id;
  const move = (event: KeyboardEvent<HTMLUListElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tiles = [...event.currentTarget.children] as HTMLElement[];
    const at = tiles.findIndex((tile) => tile.contains(document.activeElement));
    const next = placeAfter(event.key, at, tiles.length, columnsOf(tiles));
    if (at < 0 || next === null) return;
    event.preventDefault();
    tiles[next]?.querySelector("a")?.focus();
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the links in it take the keys
    <ul className={styles.grid} aria-label={t("wall.list")} onKeyDown={move}>
      {wall.items.map((session) => (
        <Tile
          key={session.id}
          session={session}
          now={Date.parse(wall.at)}
          store={store}
          observe={observe}
          current={session.id === current}
          onFocus={() => setFocused(session.id)}
        />
      ))}
    </ul>
  );
}

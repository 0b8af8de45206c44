/** The bell in the bar: what became of one's work, newest first; opening it reads it. */
import { ActionIcon, Indicator, Popover } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Bell as BellIcon } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";

import type { NoticeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { noticesQuery, useRead } from "./api";
import styles from "./notices.module.css";

export function Bell() {
  const { t } = useI18n();
  const { data } = useQuery(noticesQuery);
  const read = useRead();
  const [opened, setOpened] = useState(false);
  const [fresh, setFresh] = useState<ReadonlySet<number>>(new Set());
  const items = data?.items ?? [];
  const unread = data?.unread ?? 0;
  const show = (open: boolean) => {
    setOpened(open);
    const newest = items[0];
    if (!open || !newest) return;
    setFresh(new Set(items.filter((item) => !item.read).map(({ id }) => id)));
    if (unread > 0) read.mutate(newest.id);
  };
  return (
    <Popover opened={opened} onChange={show} position="bottom-end" width={340} trapFocus returnFocus withinPortal={false}>
      <Indicator disabled={unread === 0} color="red" size={8} offset={5}>
        <Popover.Target>
          <ActionIcon
            aria-label={unread > 0 ? t("notices.unread", { count: unread }) : t("notices.title")}
            onClick={() => show(!opened)}
          >
            <BellIcon size={16} />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown className={styles.list} aria-label={t("notices.title")}>
        <p className={styles.head} tabIndex={-1} data-autofocus>
          {t("notices.title")}
        </p>
        {items.length === 0 ? (
          <p className={styles.none}>{t("notices.none")}</p>
        ) : (
          <ul>
            {items.map((notice) => (
              <Item key={notice.id} notice={notice} fresh={fresh.has(notice.id)} onGo={() => show(false)} />
            ))}
          </ul>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

function Item({ notice, fresh, onGo }: { notice: NoticeOut; fresh: boolean; onGo: () => void }) {
  const { t, relative } = useI18n();
  const { reason } = notice.details;
  return (
    <li data-fresh={fresh || undefined}>
      <Link to={noticePath(notice.subject, notice.kind)} onClick={onGo}>
        {t(`notices.${notice.kind}`)}
      </Link>
      {typeof reason === "string" && reason && <p className={styles.reason}>{reason}</p>}
      <p className={styles.when}>
        {relative(notice.created_at)}
        {fresh && <span className={styles.new}>{t("notices.new")}</span>}
      </p>
    </li>
  );
}

/** The page of what a notice is about. */
export function noticePath(subject: string, notice?: NoticeOut["kind"]): string {
  const [kind = "", id = ""] = subject.split(":", 2);
  if (notice === "help.requested" || notice === "help.note") return `/desk/${id}`;
  if (kind === "episode") return `/episodes/${id}`;
  return { export: "/exports", import: "/exports", webhook: "/webhooks", policy: "/policies", health: "/health" }[kind] ?? "/";
}

/** What programs of the annotator's own sent to the episode's browser, a page at a time; asked for when it is opened. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import { programsQuery } from "./api";
import styles from "./replay.module.css";

/** As many as the bridge gives at once. */
const PAGE_SIZE = 100;

export function Programs({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  return (
    <details className={styles.programs} onToggle={({ currentTarget }) => setOpened(currentTarget.open)}>
      <summary>{t("programs.title")}</summary>
      {opened && <Messages episodeId={episodeId} />}
    </details>
  );
}

function Messages({ episodeId }: { episodeId: string }) {
  const { t, duration } = useI18n();
  const [after, setAfter] = useState(0);
  const log = useQuery(programsQuery(episodeId, after));
  if (log.isPending) return <p role="status">{t("common.loading")}</p>;
  if (log.isError) return <p role="alert">{messageOf(log.error, t).text}</p>;
  const { messages, total } = log.data;
  if (total === 0) return <p>{t("programs.none")}</p>;
  return (
    <>
      <ol start={after + 1}>
        {messages.map(({ time_ms, message, refused }, index) => (
          <li key={after + index}>
            <span>{duration(time_ms)}</span> {refused && <strong>{t("programs.refused")}</strong>} <code>{message}</code>
          </li>
        ))}
      </ol>
      <p>
        {t("programs.range", { from: after + 1, to: after + messages.length, total })}{" "}
        <Button size="compact-xs" variant="default" disabled={after === 0} onClick={() => setAfter(Math.max(0, after - PAGE_SIZE))}>
          {t("programs.earlier")}
        </Button>{" "}
        <Button size="compact-xs" variant="default" disabled={after + messages.length >= total} onClick={() => setAfter(after + PAGE_SIZE)}>
          {t("programs.later")}
        </Button>
      </p>
    </>
  );
}

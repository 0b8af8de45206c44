/** The imports there are, the newest first, and what each of them refused. */
import { Button, Progress } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import type { ImportOut, RefusalOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { rejectedRowsQuery, isRunning, useChangeImport } from "./api";
import styles from "./imports.module.css";

export function ImportTable({ imports }: { readonly imports: readonly ImportOut[] }) {
  const { t, moment } = useI18n();
  return (
    <DataTable
      rows={imports}
      keyOf={(item) => item.id}
      columns={[
        {
          header: t("imports.column.file"),
          kind: "name",
          cell: (item) => (
            <>
              {item.name}
              {item.pool_id !== null && (
                <>
                  {" "}
                  · <Link to={`/trajectories?pool=${item.pool_id}`}>{item.pool}</Link>
                </>
              )}
            </>
          ),
        },
        { header: t("imports.column.when"), cell: (item) => moment(item.created_at) },
        { header: t("imports.column.status"), cell: (item) => <Status item={item} /> },
        { header: t("imports.column.imported"), kind: "number", cell: (item) => item.imported },
        { header: t("imports.column.known"), kind: "number", cell: (item) => item.known },
        { header: t("imports.column.refused"), kind: "number", cell: (item) => item.refused },
        { header: t("imports.change"), kind: "actions", cell: (item) => <Change item={item} /> },
      ]}
      details={{
        header: t("imports.column.refused"),
        hasDetails: (item) => item.refused > 0,
        ariaLabel: (item) => t("imports.refused.rows", { name: item.name }),
        body: (item) => <RejectedRows item={item} />,
      }}
    />
  );
}

function Status({ item }: { readonly item: ImportOut }) {
  const { t, percent } = useI18n();
  if (isRunning(item)) {
    return (
      <div className={styles.progress}>
        <Progress value={item.progress * 100} aria-label={t("imports.progress")} />
        <span>{item.status === "queued" ? t("imports.queued") : percent(item.progress)}</span>
      </div>
    );
  }
  if (item.status === "failed") {
    return (
      <>
        <Badge tone="danger">{t("imports.failed")}</Badge> <span className={styles.error}>{item.error}</span>
      </>
    );
  }
  return item.status === "done" ? (
    <Badge tone="ok">{t("imports.done")}</Badge>
  ) : (
    <Badge tone="neutral">{t("imports.cancelled")}</Badge>
  );
}

function Change({ item }: { readonly item: ImportOut }) {
  const { t } = useI18n();
  const change = useChangeImport();
  if (item.status === "done") return null;
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        loading={change.isPending}
        onClick={() => change.mutate({ id: item.id, change: isRunning(item) ? "cancel" : "retry" })}
      >
        {t(isRunning(item) ? "imports.cancel" : "imports.retry")}
      </Button>
      <Problem error={change.error} />
    </>
  );
}

function RejectedRows({ item }: { readonly item: ImportOut }) {
  const { t } = useI18n();
  const found = useInfiniteQuery(rejectedRowsQuery(item.id));
  if (found.isPending) return <Loading />;
  if (found.isError) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const rows: readonly RefusalOut[] = found.data.pages.flatMap(({ items }) => items);
  return (
    <div className={styles.refused} role="region" aria-label={t("imports.refused.rows", { name: item.name })}>
      <table className={styles.rows}>
        <tbody>
          {rows.map(({ file, line, code, message }) => (
            <tr key={`${file}:${line}`}>
              <td className={styles.place}>
                {file}:{line}
              </td>
              <td>
                <code>{code}</code>
              </td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.hasNextPage && (
        <Button variant="default" size="compact-xs" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("imports.more")}
        </Button>
      )}
    </div>
  );
}

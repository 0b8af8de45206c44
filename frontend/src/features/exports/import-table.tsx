/** The imports there are, the newest first, and what each of them refused. */
import { Button, Progress, Table, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { Link } from "react-router";

import type { ImportOut, RefusalOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { refusedQuery, underWay, useChangeImport } from "./imports-api";
import styles from "./imports.module.css";

const COLUMNS = ["when", "file", "status", "imported", "known", "refused"] as const;

export function ImportTable({ imports }: { readonly imports: readonly ImportOut[] }) {
  const { t } = useI18n();
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <div className={styles.scroll}>
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            {COLUMNS.map((column, place) => (
              <Table.Th key={column} className={place > 2 ? styles.number : undefined}>
                {t(`imports.column.${column}`)}
              </Table.Th>
            ))}
            <Table.Th>
              <VisuallyHidden>{t("imports.change")}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {imports.map((item) => (
            <Fragment key={item.id}>
              <Row item={item} opened={opened === item.id} onOpen={() => setOpened(opened === item.id ? null : item.id)} />
              {opened === item.id && (
                <Table.Tr>
                  <Table.Td colSpan={COLUMNS.length + 1} p={0}>
                    <Refused item={item} />
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

type RowProps = { readonly item: ImportOut; readonly opened: boolean; readonly onOpen: () => void };

function Row({ item, opened, onOpen }: RowProps) {
  const { t, moment } = useI18n();
  return (
    <Table.Tr>
      <Table.Td>{moment(item.created_at)}</Table.Td>
      <Table.Td>
        {item.name}
        {item.pool_id !== null && (
          <>
            {" "}
            · <Link to={`/trajectories?pool=${item.pool_id}`}>{item.pool}</Link>
          </>
        )}
      </Table.Td>
      <Table.Td>
        <Status item={item} />
      </Table.Td>
      <Table.Td className={styles.number}>{item.imported}</Table.Td>
      <Table.Td className={styles.number}>{item.known}</Table.Td>
      <Table.Td className={styles.number}>
        {item.refused === 0 ? (
          0
        ) : (
          <Button variant="subtle" size="compact-xs" aria-expanded={opened} onClick={onOpen}>
            {t("imports.refused", { count: item.refused })}
          </Button>
        )}
      </Table.Td>
      <Table.Td className={styles.number}>
        <Change item={item} />
      </Table.Td>
    </Table.Tr>
  );
}

function Status({ item }: { readonly item: ImportOut }) {
  const { t, percent } = useI18n();
  if (underWay(item)) {
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
        onClick={() => change.mutate({ id: item.id, change: underWay(item) ? "cancel" : "retry" })}
      >
        {t(underWay(item) ? "imports.cancel" : "imports.retry")}
      </Button>
      <Problem error={change.error} />
    </>
  );
}

function Refused({ item }: { readonly item: ImportOut }) {
  const { t } = useI18n();
  const found = useInfiniteQuery(refusedQuery(item.id));
  if (found.isPending) return <Loading />;
  if (found.isError) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const rows: readonly RefusalOut[] = found.data.pages.flatMap(({ items }) => items);
  return (
    <div className={styles.refused} role="region" aria-label={t("imports.refused.rows", { name: item.name })}>
      <Table withRowBorders={false} verticalSpacing={2}>
        <Table.Tbody>
          {rows.map(({ file, line, code, message }) => (
            <Table.Tr key={`${file}:${line}`}>
              <Table.Td className={styles.place}>
                {file}:{line}
              </Table.Td>
              <Table.Td>
                <code>{code}</code>
              </Table.Td>
              <Table.Td>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {found.hasNextPage && (
        <Button variant="default" size="compact-xs" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("imports.more")}
        </Button>
      )}
    </div>
  );
}

/** The exports there are, the newest first. */
import { Button, Progress, Table, VisuallyHidden } from "@mantine/core";
import { Download } from "lucide-react";

import type { ExportOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import { useChangeExport } from "./api";
import styles from "./exports.module.css";

export function ExportTable({ exports }: { exports: readonly ExportOut[] }) {
  const { t, bytes, moment } = useI18n();
  return (
    <Table className={styles.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("exports.when")}</Table.Th>
          <Table.Th>{t("exports.what")}</Table.Th>
          <Table.Th>{t("episodes.status")}</Table.Th>
          <Table.Th className={styles.number}>{t("exports.trajectories")}</Table.Th>
          <Table.Th className={styles.number}>{t("exports.size")}</Table.Th>
          <Table.Th>
            <VisuallyHidden>{t("exports.download")}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {exports.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>{moment(item.created_at)}</Table.Td>
            <Table.Td>
              <What item={item} />
            </Table.Td>
            <Table.Td className={styles.status}>
              <ExportStatus item={item} />
            </Table.Td>
            <Table.Td className={styles.number}>{item.trajectories}</Table.Td>
            <Table.Td className={styles.number}>{bytes(item.bytes)}</Table.Td>
            <Table.Td className={styles.number}>
              <Change item={item} />
              {item.status === "done" && (
                <Button
                  component="a"
                  href={`/api/exports/${item.id}/download`}
                  download
                  variant="default"
                  size="compact-xs"
                  leftSection={<Download size={13} />}
                >
                  {t("exports.download")}
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function What({ item: { filters, plan } }: { item: ExportOut }) {
  const { t } = useI18n();
  const narrowed = [
    plan.format !== "canonical" && plan.format,
    filters.review && t(`review.${filters.review}`),
    filters.outcome && t(`outcome.${filters.outcome}`),
    filters.annotator,
    filters.undone && t("exports.undone"),
  ].filter(Boolean);
  return <>{narrowed.length > 0 ? narrowed.join(" · ") : t("exports.everything")}</>;
}

function Change({ item }: { item: ExportOut }) {
  const { t } = useI18n();
  const change = useChangeExport();
  if (item.status === "done") return null;
  const ended = item.status === "failed" || item.status === "cancelled";
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={change.isPending}
      onClick={() => change.mutate({ id: item.id, change: ended ? "retry" : "cancel" })}
    >
      {t(ended ? "exports.retry" : "exports.cancel")}
    </Button>
  );
}

function ExportStatus({ item }: { item: ExportOut }) {
  const { t, percent } = useI18n();
  if (item.status === "failed") {
    return (
      <>
        <Badge tone="danger">{t("exports.failed")}</Badge> <span className={styles.error}>{item.error}</span>
      </>
    );
  }
  if (item.status === "cancelled") return <Badge tone="neutral">{t("exports.cancelled")}</Badge>;
  if (item.status === "done") {
    return (
      <>
        <Badge tone="ok">{t("exports.done")}</Badge> {item.refused > 0 && t("exports.refused", { count: item.refused })}
      </>
    );
  }
  return (
    <div className={styles.progress}>
      <Progress value={item.progress * 100} aria-label={t("exports.progress")} />
      <span>{item.status === "queued" ? t("exports.queued") : percent(item.progress)}</span>
    </div>
  );
}

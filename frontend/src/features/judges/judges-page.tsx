/** Who judges finished episodes, and how far people agree with them. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { JudgeRow, JudgesPage as Judges } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";
import { DownloadButton } from "@/shared/ui/download-button";

import { judgesQuery } from "./api";
import { AssignForm } from "./assign-form";
import { CreateJudgeDialog } from "./create-judge-dialog";
import { JudgeTable } from "./judge-table";
import styles from "./judges.module.css";
import { ReportTable } from "./report-table";
import { ThresholdDialog } from "./threshold-dialog";

export const prefetch: Prefetch = ({ client }) => [client.query(judgesQuery)];

export default function JudgesPage() {
  const { t } = useI18n();
  const judges = useQuery(judgesQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("judges.title") }]} />
      {judges.isPending && <Loading />}
      {judges.isError && !judges.data && <ErrorState error={judges.error} onRetry={() => void judges.refetch()} />}
      {judges.data && <Overview page={judges.data} />}
    </Page>
  );
}

function Overview({ page }: { page: Judges }) {
  const { t } = useI18n();
  const [creating, setCreating] = useState(false);
  const [choosing, setChoosing] = useState<JudgeRow | null>(null);
  return (
    <>
      <Section title={t("judges.title")} aside={page.rows.length > 0 && <DownloadButton href="/api/judges/calibrations.csv" label={t("judges.csv")} />}>
        {page.rows.length === 0 ? (
          <Empty title={t("judges.none")}>{t("judges.none.help")}</Empty>
        ) : (
          <JudgeTable rows={page.rows} onThreshold={setChoosing} />
        )}
      </Section>
      <Section
        title={t("judges.assigning")}
        aside={
          <Button variant="default" size="xs" onClick={() => setCreating(true)}>
            {t("judges.new")}
          </Button>
        }
      >
        <AssignForm page={page} />
        <CreateJudgeDialog opened={creating} onClose={() => setCreating(false)} />
      </Section>
      {page.reports.length > 0 && (
        <Section title={t("judges.evaluations")}>
          <p className={styles.note}>{t("judges.evaluations.help")}</p>
          <ReportTable reports={page.reports} />
        </Section>
      )}
      <ThresholdDialog row={choosing} onClose={() => setChoosing(null)} />
    </>
  );
}

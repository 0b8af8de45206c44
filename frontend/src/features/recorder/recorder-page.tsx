/** The recorder of one's own computers: pairing, and what was uploaded from them. */
import { useQuery } from "@tanstack/react-query";

import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { recorderQuery } from "./api";
import { Computers } from "./computers";
import { Recordings } from "./recordings";
import styles from "./recorder.module.css";
import { TermsList } from "./terms-list";

export default function RecorderPage() {
  const { t } = useI18n();
  const { data, isPending, isError, error, refetch } = useQuery(recorderQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("recorder.title") }]} />
      {isPending && <Loading />}
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <Section title={t("recorder.recordings")}>
            {data.recordings.length === 0 ? (
              <Empty title={t("recorder.none")}>{t("recorder.none.help")}</Empty>
            ) : (
              <Recordings rows={data.recordings} />
            )}
            <TermsList terms={data.terms} />
            <p className={styles.note}>
              {data.pools.length === 0 ? t("recorder.pools.none") : t("recorder.pools", { names: data.pools.join(", ") })}
            </p>
          </Section>
          <Section title={t("recorder.computers")}>
            <Computers rows={data.computers} />
          </Section>
        </>
      )}
    </Page>
  );
}

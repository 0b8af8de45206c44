/** What two attempts at one task are chosen by: both named, one of them, or two policies. */
import { useQuery } from "@tanstack/react-query";
import { Navigate, useSearchParams } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { attemptsQuery } from "./api";
import { EpisodeComparison } from "./episode-comparison";
import { SharedTaskComparison } from "./shared-tasks";

export default function ComparePage() {
  const { t } = useI18n();
  const [search] = useSearchParams();
  const [one, other] = [search.get("one"), search.get("other")];
  return (
    <>
      <PagePath crumbs={[{ label: t("nav.agreement"), to: "/agreement" }, { label: t("compare.title") }]} />
      {one && other && <EpisodeComparison key={`${one} ${other}`} one={one} other={other} />}
      {one && !other && <PartnerRedirect one={one} />}
      {!one && <SharedTaskComparison />}
    </>
  );
}

/** An attempt that was named alone is set beside the newest one by another policy, else by anybody else. */
function PartnerRedirect({ one }: { one: string }) {
  const { t } = useI18n();
  const attempts = useQuery(attemptsQuery(one));
  if (attempts.isError) return <ErrorState error={attempts.error} onRetry={() => void attempts.refetch()} />;
  if (!attempts.data) return <Loading />;
  const own = attempts.data.find(({ episode }) => episode.id === one);
  const others = attempts.data.filter(({ episode }) => episode.id !== one);
  const partner = others.find(({ policies }) => policies.join() !== own?.policies.join()) ?? others[0];
  if (!partner || !own) return <Empty title={t("compare.alone")}>{t("compare.alone.help")}</Empty>;
  return <Navigate replace to={`/compare?one=${one}&other=${partner.episode.id}`} />;
}

/** What stands over one of two people's attempts side by side: which it is, how it ended, and that it may be chosen. */
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";

import type { Attempt, SideBySide } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";

import { attemptsQuery } from "./api";
import { compareCommands } from "./commands";
import styles from "./review.module.css";

type Name = "one" | "other";
type Props = { name: Name; comparison: SideBySide; step: Step | undefined; onChoose?: () => void };

export function SideHeader({ name, comparison, step, onChoose }: Props) {
  const { t } = useI18n();
  const { episode } = comparison[name];
  const chosen = comparison.chosen === episode.id;
  return (
    <>
      <AttemptSelect name={name} comparison={comparison} />
      <OutcomeBadge outcome={episode.outcome} />
      <VerdictBadge verdict={episode.verdict} />
      <Link to={`/episodes/${episode.id}${step ? `?step=${step.index + 1}` : ""}`}>{t("compare.open")}</Link>
      {chosen && <Badge tone="ok" title={comparison.reason}>{t("compare.chosen_by", { name: comparison.adjudicator })}</Badge>}
      {onChoose && (
        <Button
          className={styles.choose}
          size="compact-sm"
          variant={chosen ? "subtle" : "default"}
          onClick={onChoose}
          rightSection={<CommandKey command={compareCommands[name]} />}
        >
          {t(`compare.${name}`)}
        </Button>
      )}
    </>
  );
}

/** Which of the task's attempts stands on this side. */
function AttemptSelect({ name, comparison }: { name: Name; comparison: SideBySide }) {
  const { t, moment } = useI18n();
  const navigate = useNavigate();
  const mine = comparison[name];
  const otherId = comparison[name === "one" ? "other" : "one"].episode.id;
  const attempts = useQuery(attemptsQuery(comparison.one.episode.id)).data ?? [mine];
  const describeAttempt = ({ episode, policies }: Attempt) => [policies.join(", "), episode.annotator_name, moment(episode.created_at)].filter(Boolean).join(" · ");
  const offered = [mine, ...attempts.filter(({ episode }) => episode.id !== mine.episode.id && episode.id !== otherId)];
  const go = (id: string) => {
    const sides = { one: comparison.one.episode.id, other: comparison.other.episode.id, [name]: id };
    void navigate(`/compare?one=${sides.one}&other=${sides.other}`, { replace: true });
  };
  return (
    <Select
      className={styles.attempt}
      aria-label={t(`compare.choose.${name}`)}
      allowDeselect={false}
      data={offered.map((attempt) => ({ value: attempt.episode.id, label: describeAttempt(attempt) }))}
      value={mine.episode.id}
      onChange={(id) => id && go(id)}
    />
  );
}

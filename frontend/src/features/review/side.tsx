/** One of two attempts side by side: whose it is, how it ended, its picture, thought and action at the chosen row. */
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";

import type { Attempt, SideBySide } from "@/generated/api";
import type { Observation, Step } from "@/generated/vocabulary";
import { blobUrlOf } from "@/shared/api/episodes";
import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/action-text";
import { Badge, OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { Frame } from "@/shared/ui/frame";
import { CommandKey } from "@/shared/ui/key-hint";

import { attemptsQuery } from "./api";
import { compareCommands } from "./commands";
import styles from "./compare.module.css";

export const SIDES = ["one", "other"] as const;
type Name = (typeof SIDES)[number];
type Props = { name: Name; comparison: SideBySide; step: Step | undefined; screen: Observation | null; same: boolean; onChoose?: () => void };

export function Side({ name, comparison, step, screen, same, onChoose }: Props) {
  const { t } = useI18n();
  const { episode } = comparison[name];
  const chosen = comparison.chosen === episode.id;
  return (
    <section className={styles.side} aria-label={t(`compare.side.${name}`, { name: episode.annotator })} data-differs={!same || undefined}>
      <div className={styles.sideHead}>
        <Choice name={name} comparison={comparison} />
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
      </div>
      <Frame
        observation={screen}
        blobUrl={blobUrlOf(episode.id)}
        alt={step ? t("replay.frame_before", { number: step.index + 1 }) : t("compare.screen_then")}
        marks={step ? [{ key: step.command_id, action: step.action, tone: "done" }] : []}
      />
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls takes the focus, so that keys can scroll it */}
      <div className={styles.sideFoot} tabIndex={0} role="group" aria-label={t("compare.said")}>
        {step ? <ActionText action={step.action} /> : <em>{t("compare.nothing")}</em>}
        {step?.thought && <p>{step.thought}</p>}
      </div>
    </section>
  );
}

/** Which of the task's attempts stands on this side. */
function Choice({ name, comparison }: { name: Name; comparison: SideBySide }) {
  const { t, moment } = useI18n();
  const navigate = useNavigate();
  const mine = comparison[name];
  const beside = comparison[name === "one" ? "other" : "one"].episode.id;
  const attempts = useQuery(attemptsQuery(comparison.one.episode.id)).data ?? [mine];
  const told = ({ episode, policies }: Attempt) => [policies.join(", "), episode.annotator, moment(episode.created_at)].filter(Boolean).join(" · ");
  const offered = [mine, ...attempts.filter(({ episode }) => episode.id !== mine.episode.id && episode.id !== beside)];
  const go = (id: string) => {
    const sides = { one: comparison.one.episode.id, other: comparison.other.episode.id, [name]: id };
    void navigate(`/compare?one=${sides.one}&other=${sides.other}`, { replace: true });
  };
  return (
    <Select
      className={styles.choice}
      aria-label={t(`compare.choose.${name}`)}
      allowDeselect={false}
      data={offered.map((attempt) => ({ value: attempt.episode.id, label: told(attempt) }))}
      value={mine.episode.id}
      onChange={(id) => id && go(id)}
    />
  );
}

/** Two people's attempts at one task side by side; one of them may be chosen. */
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";

import type { SideBySide } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { hasRole, useUser } from "@/shared/account/account";
import { blobUrlOf, trajectoryQuery } from "@/shared/api/episodes";
import { browserDraftStore } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { AttemptComparison, type ComparedAttempt } from "@/shared/comparison/attempt-comparison";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { withoutUndone } from "@/shared/steps";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { comparisonQuery, reviewDetailsQuery, useAdjudicate } from "./api";
import { compareCommands } from "./commands";
import styles from "./review.module.css";
import { SideHeader } from "./comparison-side";

export function EpisodeComparison({ one, other }: { one: string; other: string }) {
  const comparison = useQuery(comparisonQuery(one, other));
  const left = useCountedSteps(one);
  const right = useCountedSteps(other);
  if (comparison.isError) return <ErrorState error={comparison.error} onRetry={() => void comparison.refetch()} />;
  if (!comparison.data || !left || !right) return <Loading />;
  return <AlignedEpisodes comparison={comparison.data} left={left} right={right} />;
}

/** The steps of an attempt that count: nothing taken back, nothing cut away. */
function useCountedSteps(episodeId: string): readonly Step[] | null {
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const details = useQuery(reviewDetailsQuery(episodeId));
  if (!trajectory.data || !details.data) return null;
  const { segments } = details.data;
  return withoutUndone(trajectory.data.steps).filter(({ index }) => segments.length === 0 || segments.some((part) => part.first <= index && index <= part.last));
}

type AlignedEpisodesProps = { comparison: SideBySide; left: readonly Step[]; right: readonly Step[] };

function AlignedEpisodes({ comparison, left, right }: AlignedEpisodesProps) {
  const { t } = useI18n();
  const user = useUser();
  const drafts = useMemo(() => browserDraftStore(user.id), [user.id]);
  const { one, other } = comparison;
  const { texts: { reason }, change, clearSent } = useTexts(drafts, one.episode.id, `comparison.${other.episode.id}`, { reason: "" });
  const field = useRef<HTMLInputElement>(null);
  const adjudicate = useAdjudicate();
  const canDecide = hasRole(user, "reviewer");
  const choose = (chosen: string) => adjudicate.mutate({ chosen, reason: reason.trim() }, { onSuccess: () => clearSent({ reason }) });
  useCommands([
    { command: compareCommands.reason, enabled: canDecide, run: () => field.current?.focus() },
    { command: compareCommands.one, enabled: canDecide, run: () => choose(one.episode.id) },
    { command: compareCommands.other, enabled: canDecide, run: () => choose(other.episode.id) },
  ]);
  const side = (name: "one" | "other", steps: readonly Step[]): ComparedAttempt => {
    const { episode } = comparison[name];
    return {
      name: episode.annotator_name,
      steps,
      blobUrl: blobUrlOf(episode.id),
      renderHeader: (step) => <SideHeader name={name} comparison={comparison} step={step} {...(canDecide ? { onChoose: () => choose(episode.id) } : {})} />,
    };
  };
  return (
    <AttemptComparison title={comparison.one.episode.instruction} alignment={comparison} one={side("one", left)} other={side("other", right)}>
      {canDecide && (
        <TextInput
          ref={field}
          className={styles.reason}
          aria-label={t("compare.reason")}
          placeholder={t("compare.reason")}
          maxLength={2_000}
          value={reason}
          onChange={(event) => change({ reason: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
          }}
          rightSection={<CommandKey command={compareCommands.reason} />}
        />
      )}
      <Problem error={adjudicate.error} />
    </AttemptComparison>
  );
}

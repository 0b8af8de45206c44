/** Two people's attempts at one task side by side; one of them may be chosen. */
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { SideBySide } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { hasRole, useUser } from "@/shared/account/account";
import { blobUrlOf, trajectoryQuery } from "@/shared/api/episodes";
import { AttemptComparison, type ComparedAttempt } from "@/shared/comparison/attempt-comparison";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { withoutUndone } from "@/shared/steps";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { comparisonQuery, sheetQuery, useAdjudicate } from "./api";
import { compareCommands } from "./commands";
import styles from "./review.module.css";
import { SideHead } from "./comparison-side";

export function Episodes({ one, other }: { one: string; other: string }) {
  const comparison = useQuery(comparisonQuery(one, other));
  const left = useSteps(one);
  const right = useSteps(other);
  if (comparison.isError) return <ErrorState error={comparison.error} onRetry={() => void comparison.refetch()} />;
  if (!comparison.data || !left || !right) return <Loading />;
  return <Compared comparison={comparison.data} left={left} right={right} />;
}

/** The steps of an attempt that count: nothing taken back, nothing cut away. */
function useSteps(episodeId: string): readonly Step[] | null {
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const sheet = useQuery(sheetQuery(episodeId));
  if (!trajectory.data || !sheet.data) return null;
  const { segments } = sheet.data;
  return withoutUndone(trajectory.data.steps).filter(({ index }) => segments.length === 0 || segments.some((part) => part.first <= index && index <= part.last));
}

type ComparedProps = { comparison: SideBySide; left: readonly Step[]; right: readonly Step[] };

function Compared({ comparison, left, right }: ComparedProps) {
  const { t } = useI18n();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const adjudicate = useAdjudicate();
  const decides = hasRole(useUser(), "reviewer");
  const choose = (chosen: string) => adjudicate.mutate({ chosen, reason: reason.trim() });
  useCommands([
    { command: compareCommands.reason, enabled: decides, run: () => field.current?.focus() },
    { command: compareCommands.one, enabled: decides, run: () => choose(comparison.one.episode.id) },
    { command: compareCommands.other, enabled: decides, run: () => choose(comparison.other.episode.id) },
  ]);
  const side = (name: "one" | "other", steps: readonly Step[]): ComparedAttempt => {
    const { episode } = comparison[name];
    return {
      name: episode.annotator,
      steps,
      blobUrl: blobUrlOf(episode.id),
      renderHeader: (step) => <SideHead name={name} comparison={comparison} step={step} {...(decides ? { onChoose: () => choose(episode.id) } : {})} />,
    };
  };
  return (
    <AttemptComparison title={comparison.one.episode.instruction} alignment={comparison} one={side("one", left)} other={side("other", right)}>
      {decides && (
        <TextInput
          ref={field}
          className={styles.reason}
          aria-label={t("compare.reason")}
          placeholder={t("compare.reason")}
          maxLength={2_000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
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

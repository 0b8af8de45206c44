/** Two attempts at one task side by side, from the place where they part; one of them may be chosen. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import type { Pair, SideBySide } from "@/generated/api";
import type { Observation, Step } from "@/generated/vocabulary";
import { hasRole, useUser } from "@/shared/account/account";
import { actionInWords } from "@/shared/actions/words";
import { trajectoryQuery } from "@/shared/api/episodes";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { standing } from "@/shared/standing";
import { Badge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { comparisonQuery, sheetQuery, useAdjudicate } from "./api";
import { compareCommands } from "./commands";
import styles from "./compare.module.css";
import { Side, SIDES } from "./side";

export function Beside({ one, other }: { one: string; other: string }) {
  const comparison = useQuery(comparisonQuery(one, other));
  const left = useSteps(one);
  const right = useSteps(other);
  if (comparison.isError) return <ErrorState error={comparison.error} onRetry={() => void comparison.refetch()} />;
  if (!comparison.data || !left || !right) return <Loading />;
  return <Pairs comparison={comparison.data} left={left} right={right} />;
}

/** The steps of an attempt that count: nothing taken back, nothing cut away. */
function useSteps(episodeId: string): readonly Step[] | null {
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const sheet = useQuery(sheetQuery(episodeId));
  if (!trajectory.data || !sheet.data) return null;
  const { segments } = sheet.data;
  return standing(trajectory.data.steps).filter(({ index }) => segments.length === 0 || segments.some((part) => part.first <= index && index <= part.last));
}

type PairsProps = { comparison: SideBySide; left: readonly Step[]; right: readonly Step[] };

function Pairs({ comparison, left, right }: PairsProps) {
  const { t, percent } = useI18n();
  const { pairs, divergence } = comparison;
  const [row, setRow] = useState(divergence ?? 0);
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const adjudicate = useAdjudicate();
  const decides = hasRole(useUser(), "reviewer") && !adjudicate.isPending;
  const choose = (chosen: string) => adjudicate.mutate({ chosen, reason: reason.trim() });
  const pair = pairs[row];
  const stepsOf = { one: left, other: right };
  const go = (to: number) => setRow(Math.min(Math.max(to, 0), Math.max(pairs.length - 1, 0)));
  useCommands([
    { command: compareCommands.next, run: () => go(row + 1) },
    { command: compareCommands.previous, run: () => go(row - 1) },
    { command: compareCommands.divergence, enabled: divergence !== null, run: () => go(divergence ?? 0) },
    { command: compareCommands.reason, enabled: decides, run: () => field.current?.focus() },
    { command: compareCommands.one, enabled: decides, run: () => choose(comparison.one.episode.id) },
    { command: compareCommands.other, enabled: decides, run: () => choose(comparison.other.episode.id) },
  ]);
  return (
    <div className={styles.compare}>
      <div className={styles.head}>
        <h2>{comparison.one.episode.instruction}</h2>
        <span>{t("compare.agreement", { share: percent(comparison.agreement) })}</span>
        {divergence === null ? (
          <Badge tone="ok">{t("compare.same")}</Badge>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => go(divergence)} rightSection={<CommandKey command={compareCommands.divergence} />}>
            {t("compare.parts", { number: divergence + 1 })}
          </Button>
        )}
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
      </div>
      {SIDES.map((name) => (
        <Side
          key={name}
          name={name}
          comparison={comparison}
          step={stepsOf[name][pair?.[name] ?? -1]}
          screen={screenAt(pairs, row, name, stepsOf[name])}
          same={pair?.same ?? false}
          {...(decides ? { onChoose: () => choose(comparison[name].episode.id) } : {})}
        />
      ))}
      <Rows pairs={pairs} left={left} right={right} current={row} onSelect={go} />
    </div>
  );
}

/** What an attempt's screen showed when a row was reached, though it may have done nothing there. */
function screenAt(pairs: readonly Pair[], row: number, name: "one" | "other", steps: readonly Step[]): Observation | null {
  const next = pairs.slice(row).find((pair) => pair[name] !== null)?.[name];
  return (next == null ? steps.at(-1)?.after : steps[next]?.before) ?? null;
}

type RowsProps = PairsOf & { current: number; onSelect: (row: number) => void };
type PairsOf = { pairs: readonly Pair[]; left: readonly Step[]; right: readonly Step[] };

function Rows({ pairs, left, right, current, onSelect }: RowsProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // A block, for newer browsers answer with a promise, which would be taken for what ends the effect.
    list.current?.children[current]?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const words = (steps: readonly Step[], place: number | null) => {
    const step = place === null ? undefined : steps[place];
    return step ? actionInWords(step.action, i18n) : "—";
  };
  return (
    <nav className={styles.rows} aria-label={t("compare.rows")}>
      <ol ref={list}>
        {pairs.map((pair, place) => (
          <li key={place}>
            <button
              type="button"
              className={styles.row}
              data-differs={!pair.same || undefined}
              aria-current={place === current ? "step" : undefined}
              onClick={() => onSelect(place)}
            >
              <span>{place + 1}</span>
              <span>{words(left, pair.one)}</span>
              <span className={styles.sign} role="img" aria-label={t(pair.same ? "compare.same_step" : "compare.differs")}>
                {pair.same ? "=" : "≠"}
              </span>
              <span>{words(right, pair.other)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Which steps count: trimmed at both ends, split in two, and taken back; the record stays whole. */
import { Button } from "@mantine/core";

import type { CutIn, ReviewDetails } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import type { useChange } from "./api";
import { reviewCommands } from "./commands";
import styles from "./review.module.css";

type Props = { details: ReviewDetails; step: Step | undefined; count: number; change: ReturnType<typeof useChange> };

const CUTS = ["begin", "end", "split", "uncut"] as const;

type Cut = { readonly allowed: boolean; readonly cut: CutIn };

/** What each cut at this step would be, and whether it would change anything. */
function availableCuts({ segments, can_undo_cut }: ReviewDetails, at: number, count: number): Record<(typeof CUTS)[number], Cut> {
  const first = segments[0]?.first ?? 0;
  const last = segments.at(-1)?.last ?? count - 1;
  const inside = segments.length === 0 ? at < count : segments.some((part) => part.first < at && at <= part.last);
  const texts = { before: "", after: "" };
  return {
    begin: { allowed: at > first && at <= last, cut: { do: "trim", first: at, last, ...texts } },
    end: { allowed: at < last && at >= first, cut: { do: "trim", first, last: at, ...texts } },
    split: { allowed: at > 0 && inside, cut: { do: "split", first: at, last: 0, ...texts } },
    uncut: { allowed: can_undo_cut, cut: { do: "undo", first: 0, last: 0, ...texts } },
  };
}

export function Segments({ details, step, count, change }: Props) {
  const { t } = useI18n();
  const { segments } = details;
  const may = details.may === "review" && (details.claim === null || details.claim.mine) && !change.isPending && !details.blind;
  const cuts = availableCuts(details, step?.index ?? 0, count);
  const make = (name: (typeof CUTS)[number]) => change.mutate({ type: "cut", cut: cuts[name].cut });
  useCommands(CUTS.map((name) => ({ command: reviewCommands[name], enabled: may && cuts[name].allowed, run: () => make(name) })));
  return (
    <div className={styles.group}>
      <h3 className={styles.title}>{t("review.segments")}</h3>
      {segments.length === 0 ? (
        <p className={styles.note}>{t("review.segments.whole")}</p>
      ) : (
        <ol className={styles.list} role="status">
          {segments.map((part) => (
            <li key={part.first} className={styles.item}>
              {t("review.segments.part", { first: part.first + 1, last: part.last + 1 })}
            </li>
          ))}
        </ol>
      )}
      {details.blind && <p className={styles.note}>{t("review.segments.blind")}</p>}
      {details.may === "review" && (
        <div className={styles.verdicts}>
          {CUTS.map((name) => (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              disabled={!may || !cuts[name].allowed}
              onClick={() => make(name)}
              rightSection={<CommandKey command={reviewCommands[name]} />}
            >
              {t(`review.${name}`)}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

/** One row a pool, person, policy, kind of task or day; a row's name narrows the report to it. */
import { UnstyledButton } from "@mantine/core";
import { Link } from "react-router";

import type { Figures, ReportRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable, type Column } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";

import { valueText, type Grouping } from "./filters";
import styles from "./reports.module.css";

type Props = { readonly by: Grouping; readonly rows: readonly ReportRow[]; readonly onChoose: (key: string) => void };

export function ReportTable({ by, rows, onChoose }: Props) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={rows}
      keyOf={(row) => row.key}
      columns={[
        {
          header: t(`reports.only.${by}`),
          kind: "name",
          className: styles.name,
          cell: ({ key, label }) => (
            <>
              <UnstyledButton className={styles.choose} onClick={() => onChoose(key)}>
                {valueText(by, label, t)}
              </UnstyledButton>
              {by === "policy" && label && rows.length > 1 && (
                <Link className={styles.detail} to={`/compare?${new URLSearchParams({ left: key }).toString()}`}>
                  {t("reports.compare")}
                </Link>
              )}
            </>
          ),
        },
        ...FIGURES.map((column): Column<ReportRow> => ({
          header: t(`reports.${column}`),
          kind: "number",
          cell: ({ figures }) => <Figure figures={figures} column={column} />,
        })),
        { header: t("reports.mix"), cell: ({ figures }) => <DecisionMix figures={figures} /> },
      ]}
    />
  );
}

const FIGURES = ["episodes", "success", "returned", "steps", "override", "edit", "decide", "step"] as const;
type FigureName = (typeof FIGURES)[number];

function Figure({ figures, column }: { figures: Figures; column: FigureName }) {
  const { percent, duration, number } = useI18n();
  const decided = figures.accepted + figures.edited + figures.overridden + figures.taken_over;
  switch (column) {
    case "episodes":
    case "steps":
      return number(figures[column]);
    case "success":
    case "returned":
    case "override":
      return <RateText rate={figures[column]} bare />;
    case "edit":
      return decided === 0 ? "–" : percent(figures.edited / decided);
    case "decide":
      return figures.decide_p50_ms === null ? "–" : duration(figures.decide_p50_ms);
    case "step":
      return figures.step_p50_ms === null ? "–" : duration(figures.step_p50_ms);
  }
}

export const DECISIONS = ["accepted", "edited", "overridden", "taken_over", "alone"] as const;

/** How the steps were decided, as one bar; said in words too. */
function DecisionMix({ figures }: { figures: Figures }) {
  const { t } = useI18n();
  const parts = DECISIONS.filter((name) => figures[name] > 0).map((name) => `${t(`reports.${name}`)} ${figures[name]}`);
  if (figures.steps === 0) return "–";
  return (
    <div className={styles.mix} role="img" aria-label={parts.join(", ")} title={parts.join(", ")}>
      {DECISIONS.map((name) => (
        <span key={name} data-decision={name} style={{ flexGrow: figures[name] }} />
      ))}
    </div>
  );
}

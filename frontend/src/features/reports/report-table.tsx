/** One row a pool, person, policy, kind of task or day; a row's name narrows the report to it. */
import { Table, UnstyledButton } from "@mantine/core";
import { Link } from "react-router";

import type { Figures, ReportRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { RateText } from "@/shared/ui/rate";

import type { Grain } from "./filters";
import styles from "./reports.module.css";

type Props = { readonly by: Grain; readonly rows: readonly ReportRow[]; readonly onChoose: (key: string) => void };

export function ReportTable({ by, rows, onChoose }: Props) {
  const { t } = useI18n();
  return (
    <Table.ScrollContainer minWidth={1080}>
      <Table className={styles.table} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t(`reports.only.${by}`)}</Table.Th>
            {COLUMNS.map((column) => (
              <Table.Th key={column} className={styles.number}>
                {t(`reports.${column}`)}
              </Table.Th>
            ))}
            <Table.Th>{t("reports.mix")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, label, figures }) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" className={styles.name}>
                <UnstyledButton className={styles.choose} onClick={() => onChoose(key)}>
                  {label || t("reports.nobody")}
                </UnstyledButton>
                {by === "policy" && label && (
                  <Link className={styles.beside} to={`/compare?${new URLSearchParams({ left: key }).toString()}`}>
                    {t("reports.compare")}
                  </Link>
                )}
              </Table.Th>
              {COLUMNS.map((column) => (
                <Table.Td key={column} className={styles.number}>
                  <Cell figures={figures} column={column} />
                </Table.Td>
              ))}
              <Table.Td>
                <Mix figures={figures} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const COLUMNS = ["episodes", "success", "returned", "steps", "override", "edit", "decide", "step"] as const;
type Column = (typeof COLUMNS)[number];

function Cell({ figures, column }: { figures: Figures; column: Column }) {
  const { percent, duration } = useI18n();
  const decided = figures.accepted + figures.edited + figures.overridden + figures.taken_over;
  switch (column) {
    case "episodes":
    case "steps":
      return figures[column].toLocaleString();
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
function Mix({ figures }: { figures: Figures }) {
  const { t } = useI18n();
  const told = DECISIONS.filter((name) => figures[name] > 0).map((name) => `${t(`reports.${name}`)} ${figures[name]}`);
  if (figures.steps === 0) return "–";
  return (
    <div className={styles.mix} role="img" aria-label={told.join(", ")} title={told.join(", ")}>
      {DECISIONS.map((name) => (
        <span key={name} data-decision={name} style={{ flexGrow: figures[name] }} />
      ))}
    </div>
  );
}

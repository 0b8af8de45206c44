/** Every revision: where it proposes, how people take it, and, on demand, all it is and what evaluations found. */
import { Button, Table, VisuallyHidden } from "@mantine/core";
import { Fragment, useId, useState } from "react";
import { Link } from "react-router";

import type { RevisionSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";
import { RateText } from "@/shared/ui/rate";

import { EvaluationList } from "./evaluation-list";
import { nameOf } from "./names";
import styles from "./policies.module.css";

export function RevisionTable({ revisions }: { revisions: readonly RevisionSummary[] }) {
  const { t } = useI18n();
  const [open, setOpen] = useState<number | null>(null);
  const id = useId();
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("policies.revision")}</Table.Th>
            <Table.Th>{t("policies.proposes")}</Table.Th>
            <Table.Th title={t("policies.accepted.help")}>{t("policies.accepted")}</Table.Th>
            <Table.Th title={t("policies.succeeded.help")}>{t("policies.succeeded")}</Table.Th>
            <Table.Th>
              <VisuallyHidden>{t("policies.details")}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {revisions.map((revision) => (
            <Fragment key={revision.id}>
              <Table.Tr>
                <Table.Td>
                  <PolicyBadge policy={revision.policy} />
                  <div className={styles.note}>{revision.base_url}</div>
                </Table.Td>
                <Table.Td>
                  <Places revision={revision} />
                </Table.Td>
                <Table.Td>
                  <Rates revision={revision} of="accepted" />
                </Table.Td>
                <Table.Td>
                  <Rates revision={revision} of="succeeded" />
                </Table.Td>
                <Table.Td className={styles.actions}>
                  <Button
                    component={Link}
                    to={`/compare?${new URLSearchParams({ left: nameOf(revision) }).toString()}`}
                    variant="default"
                    size="compact-xs"
                    aria-label={t("policies.compare_of", { name: nameOf(revision) })}
                  >
                    {t("policies.compare")}
                  </Button>
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={t("policies.details_of", { name: nameOf(revision) })}
                    aria-expanded={open === revision.id}
                    aria-controls={open === revision.id ? id : undefined}
                    onClick={() => setOpen(open === revision.id ? null : revision.id)}
                  >
                    {t("policies.details")}
                  </Button>
                </Table.Td>
              </Table.Tr>
              {open === revision.id && (
                <Table.Tr id={id}>
                  <Table.Td colSpan={5}>
                    <Details revision={revision} />
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Places({ revision }: { revision: RevisionSummary }) {
  const { t } = useI18n();
  if (revision.active_in.length + revision.tried_in.length === 0) {
    return <span className={styles.note}>{t("policies.nowhere")}</span>;
  }
  return (
    <div className={styles.badges}>
      {revision.active_in.map((pool) => (
        <Badge key={pool} tone="ok">
          {t("policies.active_in", { pool })}
        </Badge>
      ))}
      {revision.tried_in.map((pool) => (
        <Badge key={pool} tone="policy">
          {t("policies.tried_in", { pool })}
        </Badge>
      ))}
    </div>
  );
}

function Rates({ revision, of }: { revision: RevisionSummary; of: "accepted" | "succeeded" }) {
  const { t } = useI18n();
  if (revision.rates.length === 0) return <span className={styles.note}>{t("policies.no_rate")}</span>;
  return revision.rates.map((rates) => (
    <div key={rates.pool}>
      <div className={styles.note}>{rates.pool}</div>
      <RateText rate={rates[of]} />
    </div>
  ));
}

function Details({ revision }: { revision: RevisionSummary }) {
  const { t, moment } = useI18n();
  const settings = (value: object) => (Object.keys(value).length > 0 ? JSON.stringify(value) : t("policies.usual"));
  const told = [
    [t("policies.model"), revision.model],
    [t("policies.endpoint"), revision.base_url],
    [t("policies.dialect"), revision.policy.dialect],
    [t("policies.checkpoint"), revision.checkpoint || t("policies.unknown")],
    [t("policies.weight_version"), revision.weight_version || t("policies.unknown")],
    [t("policies.sampling"), settings(revision.sampling)],
    [t("policies.memory"), settings(revision.memory)],
    [t("policies.registered"), moment(revision.created_at)],
  ];
  return (
    <div className={styles.details}>
      <dl>
        {told.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div>
        <h3>{t("policies.evaluations")}</h3>
        <EvaluationList evaluations={revision.evaluations} />
      </div>
    </div>
  );
}

/** Every revision: where it proposes, how people take it, and, on demand, all it is and what evaluations found. */
import { Button, Menu, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { RevisionSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/tables/rate";

import { useUndoable } from "@/shared/ui/undo";

import { EvaluationList } from "./evaluation-list";
import { addressOf, nameOf, useChange } from "./api";
import { firstRepliesQuery, probesQuery, sameModel } from "./probes/api";
import { endpointOf } from "./probes/endpoint";
import { ProbeBadge } from "./probes/probe-badge";
import { ProbeDialog } from "./probes/probe-dialog";
import styles from "./policies.module.css";

type Props = {
  readonly revisions: readonly RevisionSummary[];
  /** Who may only read is shown no controls. */
  readonly readOnly: boolean;
  readonly onEdit: (revision: RevisionSummary) => void;
  readonly onCopy: (revision: RevisionSummary) => void;
};

export function RevisionTable({ revisions, readOnly, onEdit, onCopy }: Props) {
  const { t } = useI18n();
  const retirement = useRetirement();
  const [probed, setProbed] = useState<RevisionSummary | null>(null);
  return (
    <>
      <ProbeDialog revision={probed} onClose={() => setProbed(null)} />
      <Problem error={retirement.error} />
      <DataTable
        rows={revisions}
        keyOf={(revision) => revision.id}
        columns={[
          {
            header: t("policies.revision"),
            kind: "name",
            cell: (revision) => (
              <>
                <PolicyBadge policy={revision.policy} />
                {revision.retired && <Badge tone="neutral">{t("policies.retired")}</Badge>}
                <div className={styles.note}>{addressOf(revision, t)}</div>
              </>
            ),
          },
          { header: t("policies.proposes"), cell: (revision) => <Deployments revision={revision} /> },
          {
            header: t("policies.accepted"),
            help: t("policies.accepted.help"),
            className: styles.rates,
            cell: (revision) => <Rates revision={revision} of="accepted" />,
          },
          {
            header: t("policies.succeeded"),
            help: t("policies.succeeded.help"),
            className: styles.rates,
            cell: (revision) => <Rates revision={revision} of="succeeded" />,
          },
          {
            header: t("probes.title"),
            cell: (revision) => (revision.policy.scripted ? "–" : <Probe revision={revision} onOpen={() => setProbed(revision)} />),
          },
          {
            header: t("policies.compare"),
            kind: "actions",
            cell: (revision) => revisions.length > 1 && (
              <Button
                component={Link}
                to={`/compare?${new URLSearchParams({ left: nameOf(revision) }).toString()}`}
                variant="default"
                size="compact-xs"
                aria-label={t("policies.compare_of", { name: nameOf(revision) })}
              >
                {t("policies.compare")}
              </Button>
            ),
          },
          {
            header: t("policies.change"),
            kind: "actions",
            cell: (revision) =>
              readOnly ? null : (
                <Menu position="bottom-end">
                  <Menu.Target>
                    <Button variant="default" size="compact-xs" aria-label={t("policies.edit_of", { name: nameOf(revision) })}>
                      {t("policies.change")}
                    </Button>
                  </Menu.Target>
                  <Menu.Dropdown>
                    <Menu.Item onClick={() => onEdit(revision)}>{t("policies.edit")}</Menu.Item>
                    <Menu.Item onClick={() => onCopy(revision)}>{t("policies.copy")}</Menu.Item>
                    <Menu.Item onClick={() => retirement.toggle(revision)}>{t(revision.retired ? "policies.bring_back" : "policies.retire")}</Menu.Item>
                  </Menu.Dropdown>
                </Menu>
              ),
          },
        ]}
        details={{
          header: t("policies.details"),
          ariaLabel: (revision) => t("policies.details_of", { name: nameOf(revision) }),
          body: (revision) => <Details revision={revision} />,
        }}
      />
    </>
  );
}

/** Retires a revision, or brings one back; for some seconds it can be undone. */
function useRetirement() {
  const { t } = useI18n();
  const change = useChange();
  const undoable = useUndoable();
  const send = (revision: RevisionSummary, retired: boolean) => change.mutateAsync({ type: "edit", revision: revision.id, changed: { retired } });
  const toggle = (revision: RevisionSummary) =>
    undoable({
      act: () => send(revision, !revision.retired),
      done: t(revision.retired ? "policies.brought_back_of" : "policies.retired_of", { name: nameOf(revision) }),
      undo: () => send(revision, revision.retired),
    });
  return { error: change.error, toggle };
}

/** How the last probe of a revision ended; opens it. */
function Probe({ revision, onOpen }: { revision: RevisionSummary; onOpen: () => void }) {
  const { t } = useI18n();
  const probes = useQuery(probesQuery);
  const probe = probes.data?.find((each) => sameModel(each, endpointOf(revision)));
  const { name, revision: number } = revision.policy;
  const first = useQuery(firstRepliesQuery).data?.find(({ policy }) => policy.name === name && policy.revision === number);
  return (
    <>
      <Button variant="subtle" size="compact-xs" onClick={onOpen}>
        <ProbeBadge probe={probe} />
        <VisuallyHidden>{t("probes.open_of", { name: nameOf(revision) })}</VisuallyHidden>
      </Button>
      {first?.suspicious && (
        <div className={styles.note}>
          <Badge tone="danger">{t("probes.finding.wrong_space")}</Badge>{" "}
          {t("probes.misplaced", { count: first.misplaced, all: first.replies })}
        </div>
      )}
    </>
  );
}

function Deployments({ revision }: { revision: RevisionSummary }) {
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
  const key = revision.key_hint === null ? t("policies.key.none") : t("policies.key.stored", { hint: revision.key_hint });
  const facts = [
    [t("policies.provider"), t(`policies.provider.${revision.provider}`)],
    [t("policies.model"), revision.model],
    [t("policies.endpoint"), addressOf(revision, t)],
    [t("policies.dialect"), revision.policy.dialect],
    [t("policies.checkpoint"), revision.checkpoint || t("policies.unknown")],
    [t("policies.weight_version"), revision.weight_version || t("policies.unknown")],
    [t("policies.sampling"), settings(revision.sampling)],
    [t("policies.memory"), settings(revision.memory)],
    [t("policies.key"), revision.key_hint === "" ? t("policies.key.hidden") : key],
    ...(Object.keys(revision.provider_settings).length > 0 ? [[t("policies.provider_settings"), settings(revision.provider_settings)]] : []),
    [t("policies.registered"), moment(revision.created_at)],
  ];
  return (
    <div className={styles.details}>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {revision.prompt !== null && (
        <details className={styles.prompt}>
          <summary>{t("policies.prompt.own_of", { characters: revision.prompt.prompt.length })}</summary>
          <pre>{revision.prompt.prompt}</pre>
          {revision.prompt.task ? <pre>{revision.prompt.task}</pre> : null}
        </details>
      )}
      <div>
        <h3>{t("policies.evaluations")}</h3>
        <EvaluationList evaluations={revision.evaluations} />
      </div>
    </div>
  );
}

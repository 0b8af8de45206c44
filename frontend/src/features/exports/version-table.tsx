/** Dataset versions: how each is cited, what is in it, what was trained from it, and what was withdrawn since. */
import { Button, CopyButton, TextInput } from "@mantine/core";
import { useState } from "react";

import type { VersionOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { DownloadButton } from "@/shared/ui/download-button";

import { useNoteTrained } from "./api";
import styles from "./exports.module.css";
import { describeExport } from "./descriptions";

export function VersionTable({ versions }: { versions: readonly VersionOut[] }) {
  const { t, moment } = useI18n();
  return (
    <DataTable
      rows={versions}
      keyOf={(version) => version.export_id}
      columns={[
        {
          header: t("versions.version"),
          kind: "name",
          cell: (version) => (
            <>
              <span className={styles.name}>{versionName(version)}</span>
              {version.notes && <div className={styles.note}>{version.notes}</div>}
            </>
          ),
        },
        {
          header: t("exports.trajectories"),
          kind: "number",
          cell: ({ trajectories, withdrawn }) => (
            <>
              {trajectories}
              {withdrawn > 0 && (
                <div>
                  <Badge tone="warn" title={t("versions.withdrawn.help")}>
                    {t("versions.withdrawn", { count: withdrawn })}
                  </Badge>
                </div>
              )}
            </>
          ),
        },
        { header: t("versions.trained"), cell: ({ checkpoints }) => checkpoints.join(", ") || "–" },
        {
          header: t("versions.frozen"),
          cell: (version) => (
            <>
              {moment(version.created_at)}
              <div className={styles.note}>{version.created_by}</div>
            </>
          ),
        },
        {
          header: t("exports.actions"),
          kind: "actions",
          cell: (version) => (
            <>
              <CiteButton citation={version.citation} />
              <DownloadButton href={`/api/exports/${version.export_id}/download`} label={t("exports.download")} size="compact-xs" />
            </>
          ),
        },
      ]}
      details={{
        header: t("versions.details"),
        ariaLabel: (version) => t("versions.details_of", { name: versionName(version) }),
        body: (version) => <Details version={version} />,
      }}
    />
  );
}

const versionName = ({ name, number }: VersionOut) => `${name} v${String(number)}`;

function CiteButton({ citation }: { citation: string }) {
  const { t } = useI18n();
  return (
    <CopyButton value={citation}>
      {({ copied, copy }) => (
        <Button variant="default" size="compact-xs" onClick={copy} title={citation}>
          {t(copied ? "versions.cited" : "versions.cite")}
        </Button>
      )}
    </CopyButton>
  );
}

function Details({ version }: { version: VersionOut }) {
  const i18n = useI18n();
  const { t, percent } = i18n;
  const { shares } = version.plan;
  const facts = [
    [t("versions.citation"), version.citation],
    [t("exports.what"), describeExport(i18n, version)],
    [t("exports.division"), t("versions.shares", { validation: percent(shares.validation), test: percent(shares.test) })],
    [t("versions.manifest"), version.manifest_sha256],
  ];
  return (
    <>
      <dl className={styles.details}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <TrainedForm version={version} />
    </>
  );
}

/** Notes which revision of a policy was trained from a version; a trainer says so itself over HTTP. */
function TrainedForm({ version: { name, number } }: { version: VersionOut }) {
  const { t } = useI18n();
  const trained = useNoteTrained();
  const [policy, setPolicy] = useState("");
  const [revision, setRevision] = useState("");
  return (
    <form
      className={styles.trained}
      onSubmit={(event) => {
        event.preventDefault();
        trained.mutate({ name, number, policy: policy.trim(), revision: revision.trim() });
      }}
    >
      <TextInput label={t("versions.policy")} required maxLength={64} value={policy} onChange={(event) => setPolicy(event.currentTarget.value)} />
      <TextInput label={t("versions.revision")} required maxLength={64} value={revision} onChange={(event) => setRevision(event.currentTarget.value)} />
      <Button type="submit" variant="default" loading={trained.isPending}>
        {t("versions.note_trained")}
      </Button>
      <Problem error={trained.error} />
    </form>
  );
}

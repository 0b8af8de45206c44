/** Adds tasks from a file or a suite once it was seen what that would add. */
import { Button, FileInput, Group, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import type { PoolRow, UploadReport } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useUpload, type Upload } from "./api";
import styles from "./pools.module.css";
import { SuiteFields, type SuiteChoice } from "./suite-fields";
import { TaskTable } from "./task-table";

const KINDS = ["csv", "xlsx", "jsonl", "osworld", "harbor", "suite"] as const;
type Kind = (typeof KINDS)[number];

/** What a file most likely is, by its name. */
export function kindOf(name: string): Kind {
  if (/\.(csv|tsv|txt)$/i.test(name)) return "csv";
  if (/\.xlsx$/i.test(name)) return "xlsx";
  if (/\.zip$/i.test(name)) return "harbor";
  return /\.(jsonl|ndjson)$/i.test(name) ? "jsonl" : "osworld";
}

const canAdd = (report: UploadReport | undefined): report is UploadReport =>
  report !== undefined && !report.added && report.faults.length === 0 && report.new > 0;

const uploadOf = (kind: Kind, file: File | null, choice: SuiteChoice | null): Upload | null =>
  kind === "suite" ? choice && { choice } : file && { file, kind };

export function UploadForm({ pool }: { readonly pool: PoolRow }) {
  const { t } = useI18n();
  const work = useUpload(pool.id);
  const [kind, setKind] = useState<Kind>("csv");
  const [file, setFile] = useState<File | null>(null);
  const [suite, setSuite] = useState<SuiteChoice | null>(null);
  const upload = uploadOf(kind, file, suite);
  const report = work.data;
  /** What was reported is of another choice then. */
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      work.reset();
    };
  const ready = canAdd(report);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (upload) work.mutate({ upload, preview: !ready });
      }}
    >
      <Stack gap="xs">
        {kind === "suite" && <SuiteFields platform={pool.settings.platform} choice={suite} onChange={changed(setSuite)} />}
        <Group align="end">
          <Select
            label={t("pools.upload.kind")}
            data={KINDS.map((value) => ({ value, label: t(`pools.upload.${value}`) }))}
            value={kind}
            onChange={changed((value) => setKind(KINDS.find((each) => each === value) ?? "csv"))}
            allowDeselect={false}
          />
          {kind !== "suite" && (
            <FileInput
              label={t("pools.upload.file")}
              placeholder={t("pools.upload.choose")}
              value={file}
              onChange={changed((chosen: File | null) => {
                setFile(chosen);
                if (chosen) setKind(kindOf(chosen.name));
              })}
              accept=".csv,.tsv,.txt,.xlsx,.jsonl,.ndjson,.json,.zip"
              w={260}
            />
          )}
          <Button type="submit" variant={ready ? "filled" : "default"} disabled={!upload || report?.added} loading={work.isPending}>
            {canAdd(report) ? t("pools.upload.add", { count: report.new }) : t("pools.upload.look")}
          </Button>
        </Group>
        <Text className={styles.note}>{t(`pools.upload.${kind}.help`)}</Text>
        <Problem error={work.error} />
        {report && <Report report={report} />}
      </Stack>
    </form>
  );
}

function Report({ report }: { readonly report: UploadReport }) {
  const { t } = useI18n();
  return (
    <div role="status">
      <Text size="sm">
        {report.faults.length > 0
          ? t("pools.upload.faults", { count: report.faults.length })
          : t(report.added ? "pools.upload.added" : "pools.upload.found", { count: report.new, known: report.known })}
      </Text>
      {report.faults.length > 0 && (
        <ul className={styles.faults}>
          {report.faults.map(({ row, reason }) => (
            <li key={row}>{t("pools.upload.fault", { row, reason })}</li>
          ))}
        </ul>
      )}
      {report.faults.length === 0 && !report.added && report.first.length > 0 && <TaskTable tasks={report.first} />}
    </div>
  );
}

/** The tasks of a pool: searched, and added from a file or a suite once it was seen what that would add. */
import { Button, FileInput, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolRow, TaskRow, UploadReport } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";

import { tasksQuery, useUpload, type Upload } from "./api";
import styles from "./pools.module.css";

type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function TasksDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.tasks_of", { pool: pool?.settings.name ?? "" })} size="xl">
      {pool && (
        <Stack gap="md">
          <UploadForm pool={pool.id} />
          <TaskList pool={pool.id} />
        </Stack>
      )}
    </Dialog>
  );
}

const KINDS = ["csv", "xlsx", "jsonl", "osworld", "harbor", "suite"] as const;
type Kind = (typeof KINDS)[number];

/** What a file most likely is, by its name. */
export function kindOf(name: string): Kind {
  if (/\.(csv|tsv|txt)$/i.test(name)) return "csv";
  if (/\.xlsx$/i.test(name)) return "xlsx";
  if (/\.zip$/i.test(name)) return "harbor";
  return /\.(jsonl|ndjson)$/i.test(name) ? "jsonl" : "osworld";
}

function UploadForm({ pool }: { readonly pool: number }) {
  const { t } = useI18n();
  const work = useUpload(pool);
  const [kind, setKind] = useState<Kind>("csv");
  const [file, setFile] = useState<File | null>(null);
  const [suite, setSuite] = useState("");
  const upload: Upload | null = kind === "suite" ? (suite ? { suite } : null) : file && { file, kind };
  const report = work.data;
  const ready = report !== undefined && !report.added && report.faults.length === 0 && report.new > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (upload) work.mutate({ upload, preview: !ready });
      }}
    >
      <Stack gap="xs">
        <Group align="end">
          <Select
            label={t("pools.upload.kind")}
            data={KINDS.map((value) => ({ value, label: t(`pools.upload.${value}`) }))}
            value={kind}
            onChange={(value) => {
              setKind(KINDS.find((each) => each === value) ?? "csv");
              work.reset();
            }}
            allowDeselect={false}
          />
          <Source
            kind={kind}
            suite={suite}
            file={file}
            onSuite={(name) => {
              setSuite(name);
              work.reset();
            }}
            onFile={(chosen) => {
              setFile(chosen);
              if (chosen) setKind(kindOf(chosen.name));
              work.reset();
            }}
          />
          <Button type="submit" variant={ready ? "filled" : "default"} disabled={!upload || report?.added} loading={work.isPending}>
            {ready ? t("pools.upload.add", { count: report.new }) : t("pools.upload.look")}
          </Button>
        </Group>
        <Text className={styles.note}>{t(`pools.upload.${kind}.help`)}</Text>
        <Problem error={work.error} />
        {report && <Report report={report} />}
      </Stack>
    </form>
  );
}

type SourceProps = {
  readonly kind: Kind;
  readonly suite: string;
  readonly file: File | null;
  readonly onSuite: (name: string) => void;
  readonly onFile: (file: File | null) => void;
};

function Source({ kind, suite, file, onSuite, onFile }: SourceProps) {
  const { t } = useI18n();
  if (kind === "suite") {
    return <TextInput label={t("pools.upload.suite_name")} value={suite} onChange={(event) => onSuite(event.currentTarget.value.trim())} />;
  }
  return (
    <FileInput
      label={t("pools.upload.file")}
      placeholder={t("pools.upload.choose")}
      value={file}
      onChange={onFile}
      accept=".csv,.tsv,.txt,.xlsx,.jsonl,.ndjson,.json,.zip"
      w={260}
    />
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

function TaskList({ pool }: { readonly pool: number }) {
  const { t } = useI18n();
  const [search, setSearch] = useState("");
  const [wanted] = useDebouncedValue(search, 250);
  const query = useInfiniteQuery(tasksQuery(pool, wanted));
  const tasks = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Stack gap="xs">
      <TextInput label={t("pools.search")} value={search} onChange={(event) => setSearch(event.currentTarget.value)} />
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && (tasks.length > 0 ? <TaskTable tasks={tasks} /> : <Text className={styles.note}>{t("pools.no_tasks")}</Text>)}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t("pools.more")}
        </Button>
      )}
    </Stack>
  );
}

function TaskTable({ tasks }: { readonly tasks: readonly TaskRow[] }) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={tasks}
      keyOf={(task) => task.key}
      columns={[
        { header: t("pools.task"), kind: "name", cell: (task) => task.key },
        { header: t("pools.instruction"), cell: (task) => task.instruction },
        {
          header: t("pools.state"),
          cell: (task) => (
            <span className={styles.badges}>
              <Badge tone={task.state === "broken" ? "warn" : "neutral"}>{t(`pools.state.${task.state}`)}</Badge>
              {task.gold && <Badge tone="neutral">{t("pools.gold")}</Badge>}
            </span>
          ),
        },
      ]}
    />
  );
}

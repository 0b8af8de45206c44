/** The tasks of the chosen cell: how hard each is, where it stands, and other wordings of it. */
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { DesignPage, PlacedTask } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { LEVELS, tasksQuery, useChange, type CellSelection } from "./api";
import styles from "./design.module.css";
import { PageButtons } from "./page-buttons";
import { RubricForm } from "./rubric-form";
import { treeRows } from "./tree";
import { Wordings } from "./wordings";

const NONE: ReadonlySet<number> = new Set();

type Props = {
  readonly design: DesignPage;
  readonly selection: CellSelection;
  readonly onSelect: (selection: CellSelection) => void;
  readonly admin: boolean;
};

export function CellDetail({ design, selection, onSelect, admin }: Props) {
  const { t } = useI18n();
  const [after, setAfter] = useState(0);
  const tasks = useQuery(tasksQuery(selection, after));
  const path = treeRows(design.nodes, NONE).find(({ node }) => node.id === selection.node)?.path;
  const title = path ?? t("design.unplaced", { count: design.unplaced });
  return (
    <Section title={title} aside={selection.node !== null && <LevelChoice selection={selection} onSelect={onSelect} />}>
      {tasks.isPending && <Loading />}
      {tasks.isError && !tasks.data && <ErrorState error={tasks.error} onRetry={() => void tasks.refetch()} />}
      {tasks.data?.items.length === 0 && <Empty title={t("design.no_tasks")} />}
      <ul className={styles.tasks}>
        {tasks.data?.items.map((task) => (
          <TaskItem key={task.id} task={task} design={design} admin={admin} />
        ))}
      </ul>
      {tasks.data && <PageButtons after={after} next={tasks.data.after} onPage={setAfter} />}
    </Section>
  );
}

function LevelChoice({ selection, onSelect }: { selection: CellSelection; onSelect: (selection: CellSelection) => void }) {
  const { t } = useI18n();
  return (
    <Select
      aria-label={t("design.difficulty")}
      size="xs"
      w={150}
      clearable
      placeholder={t("design.every_level")}
      data={LEVELS.map((level) => ({ value: String(level), label: t("design.level", { level }) }))}
      value={selection.level === null ? null : String(selection.level)}
      onChange={(level) => onSelect({ node: selection.node, level: level === null ? null : Number(level) })}
    />
  );
}

function TaskItem({ task, design, admin }: { task: PlacedTask; design: DesignPage; admin: boolean }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  return (
    <li className={styles.task}>
      <p className={styles.instruction}>{task.instruction}</p>
      <div className={styles.facts}>
        <Badge tone={task.guessed ? "neutral" : "policy"}>
          {t("design.level", { level: task.level })}
          {task.guessed && ` · ${t("design.guessed")}`}
        </Badge>
        {task.variant_of !== null && <Badge tone="neutral">{t("design.variant")}</Badge>}
        <span className={styles.note}>
          {task.pool} · {task.key} · {t(`design.state.${task.state}`)} · {t("design.accepted", { count: task.accepted })}
        </span>
        {admin && (
          <Button
            variant="subtle"
            size="compact-xs"
            aria-expanded={open}
            aria-label={`${t(open ? "design.edit.close" : "design.edit")}: ${task.key}`}
            onClick={() => setOpen(!open)}
          >
            {t(open ? "design.edit.close" : "design.edit")}
          </Button>
        )}
      </div>
      {open && admin && (
        <div className={styles.stack}>
          <PlacementSelect task={task} design={design} />
          <RubricForm task={task} scale={design.rubric} />
          <Wordings task={task} writers={design.writers} />
        </div>
      )}
    </li>
  );
}

function PlacementSelect({ task, design }: { task: PlacedTask; design: DesignPage }) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Select
        label={t("design.placement")}
        searchable
        placeholder={t("design.move")}
        data={treeRows(design.nodes, NONE).map(({ node, path }) => ({ value: String(node.id), label: path }))}
        value={null}
        onChange={(node) => node && change.mutate({ type: "place", tasks: [task.id], node: Number(node), rubric: null })}
      />
      <Problem error={change.error} />
    </>
  );
}

/** The tasks of a pool: searched, edited, withdrawn, deleted, and made gold. */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useState } from "react";

import type { TaskRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";
import { useUndoable } from "@/shared/ui/undo";

import { tasksQuery, useTaskChange } from "./api";
import styles from "./pools.module.css";
import { ReferenceDialog } from "./reference-dialog";
import { TaskEditDialog } from "./task-edit-dialog";
import { TaskTable } from "./task-table";

const STATES = ["waiting", "claimed", "done", "broken", "withdrawn"] as const;
type State = (typeof STATES)[number] | "";

export function TaskList({ pool }: { readonly pool: number }) {
  const { t } = useI18n();
  const [search, setSearch] = useState("");
  const [state, setState] = useState<State>("");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [open, setOpen] = useState<{ readonly what: "edit" | "reference"; readonly task: TaskRow } | null>(null);
  const [wanted] = useDebouncedValue(search, 250);
  const query = useInfiniteQuery(tasksQuery(pool, wanted, state));
  const tasks = query.data?.pages.flatMap((page) => page.items) ?? [];
  const taskOf = (what: "edit" | "reference") => (open?.what === what ? open.task : null);
  const those = tasks.filter(({ id }) => chosen.has(id));
  return (
    <Stack gap="xs">
      <Group align="end">
        <TextInput label={t("pools.search")} value={search} onChange={(event) => setSearch(event.currentTarget.value)} />
        <Select
          label={t("pools.state")}
          placeholder={t("pools.state.any")}
          data={STATES.map((value) => ({ value, label: t(`pools.state.${value}`) }))}
          value={state || null}
          onChange={(value) => setState(STATES.find((each) => each === value) ?? "")}
          clearable
        />
      </Group>
      {those.length > 0 && (
        <BulkBar
          pool={pool}
          tasks={those}
          all={tasks.length}
          onAll={() => setChosen(new Set(tasks.map(({ id }) => id)))}
          onNone={() => setChosen(new Set())}
        />
      )}
      <QueryNotes query={query} empty={tasks.length === 0 && t(wanted || state ? "pools.no_tasks" : "pools.empty")} />
      {tasks.length > 0 && (
        <TaskTable
          tasks={tasks}
          chosen={chosen}
          onChoose={({ id }, on) => setChosen(new Set([...chosen].filter((each) => each !== id).concat(on ? id : [])))}
          onOpen={(what, task) => setOpen({ what, task })}
        />
      )}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t("pools.more")}
        </Button>
      )}
      <TaskEditDialog pool={pool} task={taskOf("edit")} onClose={() => setOpen(null)} />
      <ReferenceDialog pool={pool} task={taskOf("reference")} onClose={() => setOpen(null)} />
    </Stack>
  );
}

type NotesProps = {
  readonly query: Pick<UseInfiniteQueryResult, "isPending" | "isError" | "error" | "data" | "refetch">;
  /** What is said where there is nothing. */
  readonly empty: string | false;
};

function QueryNotes({ query, empty }: NotesProps) {
  if (query.isPending) return <Loading />;
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return empty && <Text className={styles.note}>{empty}</Text>;
}

type BarProps = {
  readonly pool: number;
  readonly tasks: readonly TaskRow[];
  readonly all: number;
  readonly onAll: () => void;
  readonly onNone: () => void;
};

/** Changes all chosen tasks; each change can be undone. */
function BulkBar({ pool, tasks, all, onAll, onNone }: BarProps) {
  const { t } = useI18n();
  const change = useTaskChange(pool);
  const undoable = useUndoable();
  const ids = tasks.map(({ id }) => id);
  const count = tasks.length;
  const withdraw = (withdrawn: boolean) => {
    const changed = tasks.filter(({ state }) => (state === "withdrawn") !== withdrawn && state !== "broken").map(({ id }) => id);
    undoable({
      act: () => change.mutateAsync({ type: "withdraw", tasks: ids, withdrawn }),
      done: t(withdrawn ? "pools.tasks.withdrawn" : "pools.tasks.restored", { count: changed.length }),
      undo: () => (changed.length > 0 ? change.mutateAsync({ type: "withdraw", tasks: changed, withdrawn: !withdrawn }) : Promise.resolve()),
    });
  };
  const gold = (wanted: boolean) => {
    const changed = tasks.filter(({ gold_wanted: was }) => was !== wanted).map(({ id }) => id);
    undoable({
      act: () => change.mutateAsync({ type: "gold", tasks: ids, wanted }),
      done: t(wanted ? "pools.tasks.gold_wanted" : "pools.tasks.gold_unwanted", { count: changed.length }),
      undo: () => (changed.length > 0 ? change.mutateAsync({ type: "gold", tasks: changed, wanted: !wanted }) : Promise.resolve()),
    });
  };
  return (
    <Group gap="sm" role="group" aria-label={t("pools.tasks.selected", { count })}>
      <span>{t("pools.tasks.selected", { count })}</span>
      <Button size="compact-sm" variant="subtle" disabled={count === all} onClick={onAll}>
        {t("pools.choose_all")}
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={onNone}>
        {t("pools.choose_none")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => withdraw(true)}>
        {t("pools.tasks.withdraw")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => withdraw(false)}>
        {t("pools.tasks.restore")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => gold(true)} title={t("pools.tasks.gold.help")}>
        {t("pools.tasks.gold")}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => gold(false)}>
        {t("pools.tasks.ungold")}
      </Button>
      <DeleteButton pool={pool} ids={ids} onDone={onNone} />
      <Problem error={change.error} />
    </Group>
  );
}

/** Deletes what nobody was given; an undo adds the same tasks again, behind the others. */
function DeleteButton({ pool, ids, onDone }: { readonly pool: number; readonly ids: readonly number[]; readonly onDone: () => void }) {
  const { t } = useI18n();
  const change = useTaskChange(pool);
  const undoable = useUndoable();
  const [inUse, setInUse] = useState(0);
  const remove = async () => {
    const answer = await change.mutateAsync({ type: "delete", tasks: ids });
    if (answer === null || !("deleted" in answer)) return;
    const { deleted } = answer;
    setInUse(answer.in_use);
    if (deleted.length === 0) return;
    if (answer.in_use === 0) onDone();
    undoable({
      act: () => Promise.resolve(),
      done: t("pools.tasks.deleted", { count: deleted.length }),
      undo: () => change.mutateAsync({ type: "add", definitions: deleted }),
    });
  };
  return (
    <>
      <Button size="compact-sm" variant="default" loading={change.isPending} onClick={() => void remove().catch(() => undefined)}>
        {t("pools.tasks.delete")}
      </Button>
      {inUse > 0 && (
        <Text role="status" className={styles.note}>
          {t("pools.tasks.kept", { count: inUse })}
        </Text>
      )}
      <Problem error={change.error} />
    </>
  );
}

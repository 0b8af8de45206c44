/** Changes the instruction, steps and hosts of a task that nobody was given; for some seconds that can be undone. */
import { Button, Group, NumberInput, Stack, TagsInput, Textarea } from "@mantine/core";
import { useState } from "react";

import type { TaskChanges, TaskRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useTaskChange } from "./api";

const MAX_STEPS = 1_000;

type Props = { readonly pool: number; readonly task: TaskRow | null; readonly onClose: () => void };

export function TaskEditDialog({ pool, task, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={task !== null} onClose={onClose} title={t("pools.task.edit_title", { task: task?.key ?? "" })} size="lg">
      {task && <TaskForm key={task.id} pool={pool} task={task} onDone={onClose} />}
    </Dialog>
  );
}

type Changeable = Required<Pick<TaskChanges, "instruction" | "max_steps" | "network">>;

/** What of `after` differs from `before`: an undo leaves alone what another admin changed meanwhile. */
const changedOf = (after: Changeable, before: Changeable): TaskChanges =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Changeable])));

function TaskForm({ pool, task, onDone }: { readonly pool: number; readonly task: TaskRow; readonly onDone: () => void }) {
  const { t } = useI18n();
  const change = useTaskChange(pool);
  const undoable = useUndoable();
  const [instruction, setInstruction] = useState(task.instruction);
  const [steps, setSteps] = useState(task.max_steps);
  const [network, setNetwork] = useState([...task.network]);
  const send = (changes: TaskChanges) => change.mutateAsync({ type: "edit", task: task.id, changes });
  const before: Changeable = { instruction: task.instruction, max_steps: task.max_steps, network: task.network };
  const written: Changeable = { instruction, max_steps: steps, network };
  const save = () =>
    undoable({
      act: () => send(changedOf(written, before)).then(onDone),
      done: t("pools.task.edited", { task: task.key }),
      undo: () => send(changedOf(before, written)),
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Stack gap="sm">
        <Textarea
          label={t("pools.instruction")}
          value={instruction}
          onChange={(event) => setInstruction(event.currentTarget.value)}
          autosize
          minRows={2}
          maxRows={10}
          required
          data-autofocus
        />
        <NumberInput
          label={t("pools.max_steps")}
          value={steps}
          min={1}
          max={MAX_STEPS}
          clampBehavior="strict"
          onChange={(value) => typeof value === "number" && setSteps(value)}
        />
        <TagsInput label={t("pools.task.network")} description={t("pools.task.network.help")} value={network} onChange={setNetwork} />
        <Problem error={change.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={change.isPending}>
            {t("pools.save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

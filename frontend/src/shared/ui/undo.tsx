/** For what can be taken back: it is done at once, and for some seconds a message offers to undo it, by mouse or by key. */
import { Button, Group } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useId, useRef } from "react";

import { useCommands } from "@/shared/commands/commands";
import { globalCommands } from "@/shared/commands/global";
import { useI18n } from "@/shared/i18n/i18n";

import { CommandKey } from "./key-hint";
import { Problem } from "./problem";

/** Long enough to read it and to reach for it; the pointer over it stops the clock. */
const UNDO_WINDOW_MS = 10_000;

/** As many are offered at once; with one more the oldest goes, for one that waited to be shown could not be undone by its key. */
const MAX_OFFERS = 3;
const activeOffers = new Set<string>();

type Undoable = {
  /** A refusal is shown by whose mutation this is. */
  readonly act: () => Promise<unknown>;
  /** Says what was done. */
  readonly done: string;
  readonly undo: () => Promise<unknown>;
};

export function useUndoable(): (undoable: Undoable) => void {
  const { t } = useI18n();
  const place = useId();
  const count = useRef(0);
  return ({ act, done, undo }) => {
    const id = `${place} ${count.current++}`;
    const offer = () => {
      for (const oldest of [...activeOffers].slice(0, Math.max(0, activeOffers.size + 1 - MAX_OFFERS))) {
        activeOffers.delete(oldest);
        notifications.hide(oldest);
      }
      activeOffers.add(id);
      notifications.show({
        id,
        message: <UndoOffer done={done} undo={undo} onDone={() => notifications.hide(id)} />,
        autoClose: UNDO_WINDOW_MS,
        onClose: () => void activeOffers.delete(id),
        closeButtonProps: { "aria-label": t("common.close") },
      });
    };
    void act().then(offer, () => undefined);
  };
}

type Props = Pick<Undoable, "done" | "undo"> & { readonly onDone: () => void };

/** The latest offer has the key: it is the one that was mounted last. */
function UndoOffer({ done, undo, onDone }: Props) {
  const { t } = useI18n();
  const back = useMutation({ mutationFn: undo, onSuccess: onDone });
  useCommands([{ command: globalCommands.undo, enabled: !back.isPending, run: () => back.mutate() }]);
  return (
    <>
      <Group justify="space-between" wrap="nowrap">
        <span>{done}</span>
        <Button
          variant="default"
          size="compact-sm"
          style={{ flexShrink: 0 }}
          loading={back.isPending}
          onClick={() => back.mutate()}
          rightSection={<CommandKey command={globalCommands.undo} />}
        >
          {t("global.undo")}
        </Button>
      </Group>
      <Problem error={back.error} />
    </>
  );
}

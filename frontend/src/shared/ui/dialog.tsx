/** A dialog with a title and a named cross: holds the focus, ends with Escape if no other is above it, gives the focus back. */
import { Modal, type ModalProps } from "@mantine/core";
import { useEffect, useId, useSyncExternalStore } from "react";

import { useI18n } from "@/shared/i18n/i18n";

type Props = Omit<ModalProps, "closeButtonProps" | "transitionProps" | "closeOnEscape">;

/** The ids of the dialogs that are open, the topmost last; each opening is an object of its own. */
let opened: readonly { readonly id: string }[] = [];
const listeners = new Set<() => void>();

export function Dialog(props: Props) {
  const { t } = useI18n();
  const topmost = useTopmost(props.opened);
  return <Modal {...props} closeOnEscape={topmost} closeButtonProps={{ "aria-label": t("common.close") }} transitionProps={{ duration: 0 }} />;
}

/** Whether a dialog is the topmost of those that are open. */
function useTopmost(isOpened: boolean): boolean {
  const id = useId();
  useEffect(() => {
    if (!isOpened) return;
    const opening = { id };
    change([...opened, opening]);
    return () => {
      setTimeout(() => change(opened.filter((other) => other !== opening))); // the Escape that closed it closes no other
    };
  }, [isOpened, id]);
  return useSyncExternalStore(subscribe, () => opened.at(-1)?.id === id);
}

function change(next: typeof opened): void {
  opened = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

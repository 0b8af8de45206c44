/** The dialogs of the workspace; one is open at a time. */
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { NotesDialog } from "@/features/annotate/memory/notes-dialog";
import { PromptDialog } from "@/features/annotate/proposals/prompt-dialog";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { ClipboardDialog } from "./clipboard-dialog";
import { FinishDialog } from "./finish-dialog";
import { HelpDialog } from "./help-dialog";
import { LeaveDialog } from "./leave-dialog";
import { TakeoverDialog } from "./takeover-dialog";

export function Dialogs() {
  const { t } = useI18n();
  const { dialog, setDialog, viewportRef } = useWorkspace();
  const close = () => {
    setDialog(null);
    viewportRef.current?.focus({ preventScroll: true });
  };
  return (
    <Dialog
      opened={dialog !== null}
      onClose={close}
      title={dialog === null ? "" : t(`dialog.${dialog}`)}
      returnFocus={false}
      size={dialog === "prompt" ? "80rem" : dialog === "notes" ? "lg" : "md"}
    >
      {(dialog === "finish" || dialog === "infeasible") && <FinishDialog infeasible={dialog === "infeasible"} onDone={close} />}
      {dialog === "help" && <HelpDialog onDone={close} />}
      {dialog === "leave" && <LeaveDialog onDone={close} />}
      {dialog === "clipboard" && <ClipboardDialog onDone={close} />}
      {dialog === "takeover" && <TakeoverDialog onDone={close} />}
      {dialog === "prompt" && <PromptDialog />}
      {dialog === "notes" && <NotesDialog />}
    </Dialog>
  );
}

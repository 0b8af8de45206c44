/** The dialogs of the workspace; one is open at a time. */
import type { ComponentType } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { ProgramDialog } from "@/features/annotate/browser/program-dialog";
import { NotesDialog } from "@/features/annotate/memory/notes-dialog";
import { PromptDialog } from "@/features/annotate/proposals/prompt-dialog";
import { useWorkspace, type Dialog as DialogName } from "@/features/annotate/use-workspace";

import { ClipboardDialog } from "./clipboard-dialog";
import { FinishDialog } from "./finish-dialog";
import { HelpDialog } from "./help-dialog";
import { LeaveDialog } from "./leave-dialog";
import { TakeoverDialog } from "./takeover-dialog";
import { ThoughtsDialog } from "./thoughts-dialog";

interface ContentProps {
  readonly onDone: () => void;
}

const CONTENTS: Readonly<Record<DialogName, ComponentType<ContentProps>>> = {
  finish: ({ onDone }) => <FinishDialog infeasible={false} onDone={onDone} />,
  infeasible: ({ onDone }) => <FinishDialog infeasible onDone={onDone} />,
  help: HelpDialog,
  leave: LeaveDialog,
  clipboard: ClipboardDialog,
  takeover: TakeoverDialog,
  thoughts: ThoughtsDialog,
  prompt: PromptDialog,
  notes: NotesDialog,
  program: ProgramDialog,
};
const SIZES: Readonly<Partial<Record<DialogName, string>>> = { prompt: "80rem", notes: "lg", thoughts: "lg", program: "lg" };

export function Dialogs() {
  const { t } = useI18n();
  const { dialog, setDialog, viewportRef } = useWorkspace();
  const close = () => {
    setDialog(null);
    viewportRef.current?.focus({ preventScroll: true });
  };
  const Content = dialog === null ? null : CONTENTS[dialog];
  return (
    <Dialog
      key={dialog === "thoughts" ? dialog : "other"}
      opened={dialog !== null}
      onClose={close}
      title={dialog === null ? "" : t(`dialog.${dialog}`)}
      returnFocus={false}
      size={dialog === null ? "md" : (SIZES[dialog] ?? "md")}
    >
      {Content !== null && <Content onDone={close} />}
    </Dialog>
  );
}

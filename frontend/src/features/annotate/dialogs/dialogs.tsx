/** The dialogs of the desk; one is open at a time. */
import { Modal } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";
import { useDesk } from "@/features/annotate/use-desk";

import { ClipboardDialog } from "./clipboard-dialog";
import { FinishDialog } from "./finish-dialog";
import { HelpDialog } from "./help-dialog";
import { LeaveDialog } from "./leave-dialog";
import { TakeoverDialog } from "./takeover-dialog";

export function Dialogs() {
  const { t } = useI18n();
  const { dialog, setDialog, stageRef } = useDesk();
  const close = () => {
    setDialog(null);
    stageRef.current?.focus({ preventScroll: true });
  };
  return (
    <Modal
      opened={dialog !== null}
      onClose={close}
      title={dialog === null ? "" : t(`dialog.${dialog}`)}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      {(dialog === "finish" || dialog === "infeasible") && <FinishDialog infeasible={dialog === "infeasible"} onDone={close} />}
      {dialog === "help" && <HelpDialog onDone={close} />}
      {dialog === "leave" && <LeaveDialog onDone={close} />}
      {dialog === "clipboard" && <ClipboardDialog onDone={close} />}
      {dialog === "takeover" && <TakeoverDialog onDone={close} />}
    </Modal>
  );
}

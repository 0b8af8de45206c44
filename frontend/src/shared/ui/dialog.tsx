/** A dialog with a title and a named cross: holds the focus, ends with Escape, gives the focus back. */
import { Modal, type ModalProps } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

type Props = Omit<ModalProps, "closeButtonProps" | "transitionProps">;

export function Dialog(props: Props) {
  const { t } = useI18n();
  return <Modal {...props} closeButtonProps={{ "aria-label": t("common.close") }} transitionProps={{ duration: 0 }} />;
}

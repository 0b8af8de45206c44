/** A button for what cannot be taken back or takes much: it says what will happen, and does it when that was read. */
import { Button, Group, Stack, Text, type ButtonProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import { Dialog } from "./dialog";
import { Problem } from "./problem";

type Props = Pick<ButtonProps, "size" | "disabled"> & {
  /** What the button says, here and in the dialog. */
  readonly label: string;
  /** What it is called where a row needs telling apart. */
  readonly ariaLabel?: string;
  /** What will be lost. */
  readonly confirmation: string;
  readonly onConfirm: () => Promise<unknown>;
  /** Whether something is lost. */
  readonly danger?: boolean;
};

export function ConfirmButton({ label, ariaLabel = label, confirmation, onConfirm, danger = true, size = "compact-xs", disabled }: Props) {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const action = useMutation({ mutationFn: onConfirm, onSuccess: () => setOpened(false) });
  const open = () => {
    action.reset();
    setOpened(true);
  };
  return (
    <>
      <Button variant="default" size={size} disabled={disabled} aria-label={ariaLabel} onClick={open}>
        {label}
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={ariaLabel}>
        <Stack gap="sm">
          <Text size="sm">{confirmation}</Text>
          <Problem error={action.error} />
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => setOpened(false)}>
              {t("common.cancel")}
            </Button>
            <Button color={danger ? "red" : undefined} loading={action.isPending} onClick={() => action.mutate()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}

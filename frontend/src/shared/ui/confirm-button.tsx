/** A button for what cannot be taken back: it says what will be lost, and does it when that was read. */
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
  readonly named?: string;
  /** What will be lost. */
  readonly ask: string;
  readonly run: () => Promise<unknown>;
};

export function AskButton({ label, named = label, ask, run, size = "compact-xs", disabled }: Props) {
  const { t } = useI18n();
  const [asking, setAsking] = useState(false);
  const act = useMutation({ mutationFn: run, onSuccess: () => setAsking(false) });
  const open = () => {
    act.reset();
    setAsking(true);
  };
  return (
    <>
      <Button variant="default" size={size} disabled={disabled} aria-label={named} onClick={open}>
        {label}
      </Button>
      <Dialog opened={asking} onClose={() => setAsking(false)} title={named}>
        <Stack gap="sm">
          <Text size="sm">{ask}</Text>
          <Problem error={act.error} />
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => setAsking(false)}>
              {t("common.cancel")}
            </Button>
            <Button color="red" loading={act.isPending} onClick={() => act.mutate()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}

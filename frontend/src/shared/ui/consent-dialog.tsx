/** Shows what a pool's people agree to before their first task, and takes their word. */
import { Button, Group, Stack } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Markdown } from "@/shared/ui/markdown";

/** What a pool's people agree to before their first task. */
export type Terms = { readonly pool: number; readonly name: string; readonly version: number; readonly text: string };

type Props = { readonly terms: Terms | null; readonly busy: boolean; readonly onAgree: () => void; readonly onClose: () => void };

export function ConsentDialog({ terms, busy, onAgree, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={terms !== null} onClose={onClose} title={t("consent.title", { pool: terms?.name ?? "" })} size="lg">
      {terms && (
        <Stack gap="md">
          <Markdown text={terms.text} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("common.cancel")}
            </Button>
            <Button onClick={onAgree} loading={busy} data-autofocus>
              {t("consent.agree")}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

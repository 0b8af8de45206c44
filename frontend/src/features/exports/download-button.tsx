/** A finished export's folder as one file. */
import { Button } from "@mantine/core";
import { Download } from "lucide-react";

import { useI18n } from "@/shared/i18n/i18n";

export function DownloadButton({ id }: { id: string }) {
  const { t } = useI18n();
  return (
    <Button component="a" href={`/api/exports/${id}/download`} download variant="default" size="compact-xs" leftSection={<Download size={13} />}>
      {t("exports.download")}
    </Button>
  );
}

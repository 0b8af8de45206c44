/** The probe of a registered revision. */
import type { RevisionSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";

import { nameOf } from "@/features/policies/api";
import { endpointOf } from "./endpoint";
import { ProbePanel } from "./probe-panel";

export function ProbeDialog({ revision, onClose }: { revision: RevisionSummary | null; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog
      opened={revision !== null}
      onClose={onClose}
      size="xl"
      title={revision ? t("probes.title_of", { name: nameOf(revision) }) : ""}
    >
      {revision && <ProbePanel endpoint={endpointOf(revision)} />}
    </Dialog>
  );
}

/** The live picture of a machine somebody works on; looking changes nothing for them. */
import type { FleetMachine } from "@/generated/api";
import { useStream } from "@/streams/use-stream";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";

import { machinePath } from "./api";
import styles from "./machines.module.css";

type Props = { readonly machine: FleetMachine | null; readonly onClose: () => void };

export function WatchDialog({ machine, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog
      opened={machine !== null}
      onClose={onClose}
      size="auto"
      centered
      title={machine ? t("machines.watching", { name: machine.id, who: machine.user ?? machine.holder ?? "" }) : ""}
    >
      {machine && <Picture machine={machine} />}
    </Dialog>
  );
}

function Picture({ machine }: { machine: FleetMachine }) {
  const { t } = useI18n();
  const { hostRef, status } = useStream(machinePath(machine.id), true);
  return (
    <>
      <div ref={hostRef} className={styles.live} data-upright={machine.kind === "phone" || undefined} />
      <p className={styles.note} role="status">
        {status?.phase === "live" ? t("machines.live", { kind: status.kind }) : t("machines.connecting")}
      </p>
    </>
  );
}

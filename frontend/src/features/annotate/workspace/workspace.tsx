/** The desk: live stage, proposals, your step, timeline. */
import { useI18n } from "@/shared/i18n/i18n";
import { isUpright } from "@/shared/markers/mapping";
import { Timeline } from "@/shared/ui/episode/timeline";
import { PagePath } from "@/shared/ui/top-bar";
import type { EpisodeView } from "@/session/reducer";
import type { LiveSession } from "@/session/use-session";
import { useStream } from "@/streams/use-stream";

import { BrowserBar } from "@/features/annotate/browser/browser-bar";
import { FileSheet } from "@/features/annotate/browser/file-chooser";
import { DeskFooter } from "./footer";
import { DeskStatus } from "./status";
import { Dialogs } from "@/features/annotate/dialogs/dialogs";
import { SecretsDialog } from "@/features/annotate/dialogs/secrets-dialog";
import { Drawer, PanelButtons } from "@/features/annotate/panels/dock";
import { hasScreen } from "@/features/annotate/panels/panels";
import { ProposalsPanel } from "@/features/annotate/proposals/proposals-panel";
import { PhonePad } from "@/features/annotate/phone/phone-pad";
import { Stage } from "@/features/annotate/viewport/viewport";
import { YourStep } from "@/features/annotate/step/step-composer";
import { TaskPanel } from "./task-panel";
import { DeskProvider, useDeskModel } from "@/features/annotate/use-workspace";
import { useDeskCommands } from "@/features/annotate/use-workspace-commands";
import styles from "./workspace.module.css";

export function Desk({ live, view }: { live: LiveSession; view: EpisodeView }) {
  const { t } = useI18n();
  const desk = useDeskModel(live, view);
  useDeskCommands(desk);
  const { episode } = view;
  const hasPicture = episode.observation !== null && hasScreen(episode);
  const stream = useStream(`/episodes/${encodeURIComponent(episode.id)}`, hasPicture && (episode.status === "running" || episode.status === "paused"));
  const blobUrl = (sha256: string) => `/api/episodes/${encodeURIComponent(episode.id)}/blobs/${sha256}`;
  return (
    <DeskProvider value={desk}>
      <PagePath crumbs={[{ label: t("global.queue"), to: "/queue" }, { label: titleOf(episode.task.instruction) }]} />
      <DeskStatus stream={stream.status} />
      <div className={styles.desk} data-upright={(episode.observation !== null && isUpright(episode.observation)) || undefined}>
        <div className={styles.work}>
          <BrowserBar />
          <FileSheet />
          <div className={styles.view}>
            <PhonePad />
            <Stage stream={stream} blobUrl={blobUrl} />
          </div>
          <Drawer />
        </div>
        <aside className={styles.side} aria-label={t("desk.side")}>
          <TaskPanel />
          <ProposalsPanel />
          {(episode.status === "running" || episode.status === "paused") && <YourStep />}
          <DeskFooter />
        </aside>
        <footer className={styles.timeline}>
          <Timeline
            steps={episode.steps}
            pending={episode.pending}
            current={desk.looking}
            onSelect={desk.look}
            blobUrl={blobUrl}
          />
          <PanelButtons />
        </footer>
      </div>
      <Dialogs />
      <SecretsDialog />
    </DeskProvider>
  );
}

const LONGEST_TITLE = 60;

function titleOf(instruction: string): string {
  const line = instruction.split("\n")[0] ?? "";
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}

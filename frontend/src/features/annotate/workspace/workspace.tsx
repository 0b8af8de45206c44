/** The annotation workspace: live viewport, proposals, the step composer, the timeline. */
import { useMemo } from "react";

import { blobUrlOf } from "@/shared/api/episodes";
import { useI18n } from "@/shared/i18n/i18n";
import { isUpright } from "@/shared/markers/mapping";
import { Timeline } from "@/shared/ui/episode/timeline";
import { PagePath } from "@/shared/ui/top-bar";
import type { EpisodeView } from "@/session/reducer";
import type { LiveSession } from "@/session/use-session";
import { useStream } from "@/streams/use-stream";

import { BrowserBar } from "@/features/annotate/browser/browser-bar";
import { FileChooserPanel } from "@/features/annotate/browser/file-chooser";
import { WorkspaceFooter } from "./footer";
import { WorkspaceStatus } from "./status";
import { Dialogs } from "@/features/annotate/dialogs/dialogs";
import { SecretsDialog } from "@/features/annotate/dialogs/secrets-dialog";
import { PanelDrawer, PanelButtons } from "@/features/annotate/panels/dock";
import { hasScreen } from "@/features/annotate/panels/panels";
import { ProposalsPanel } from "@/features/annotate/proposals/proposals-panel";
import { PhonePad } from "@/features/annotate/phone/phone-pad";
import { Viewport } from "@/features/annotate/viewport/viewport";
import { StepComposer } from "@/features/annotate/step/step-composer";
import { TaskPanel } from "./task-panel";
import { WorkspaceProvider, useWorkspaceState } from "@/features/annotate/use-workspace";
import { useWorkspaceCommands } from "@/features/annotate/use-workspace-commands";
import styles from "./workspace.module.css";

export function AnnotationWorkspace({ live, view }: { live: LiveSession; view: EpisodeView }) {
  const { t } = useI18n();
  const workspace = useWorkspaceState(live, view);
  useWorkspaceCommands(workspace);
  const { episode } = view;
  const hasPicture = episode.observation !== null && hasScreen(episode);
  const stream = useStream(`/episodes/${encodeURIComponent(episode.id)}`, hasPicture && (episode.status === "running" || episode.status === "paused"));
  const blobUrl = useMemo(() => blobUrlOf(episode.id), [episode.id]);
  return (
    <WorkspaceProvider value={workspace}>
      <PagePath crumbs={[{ label: t("global.queue"), to: "/queue" }, { label: titleOf(episode.task.instruction) }]} />
      <WorkspaceStatus stream={stream.status} />
      <div className={styles.workspace} data-upright={(episode.observation !== null && isUpright(episode.observation)) || undefined}>
        <div className={styles.work}>
          <BrowserBar />
          <FileChooserPanel />
          <div className={styles.view}>
            <PhonePad />
            <Viewport stream={stream} blobUrl={blobUrl} />
          </div>
          <PanelDrawer />
        </div>
        <aside className={styles.side} aria-label={t("workspace.side")}>
          <TaskPanel />
          <ProposalsPanel />
          {(episode.status === "running" || episode.status === "paused") && <StepComposer />}
          <WorkspaceFooter />
        </aside>
        <footer className={styles.timeline}>
          <Timeline
            steps={episode.steps}
            pending={episode.pending}
            current={workspace.viewedStep}
            onSelect={workspace.viewStep}
            blobUrl={blobUrl}
          />
          <PanelButtons />
        </footer>
      </div>
      <Dialogs />
      <SecretsDialog />
    </WorkspaceProvider>
  );
}

const MAX_TITLE_LENGTH = 60;

function titleOf(instruction: string): string {
  const line = instruction.split("\n")[0] ?? "";
  return line.length > MAX_TITLE_LENGTH ? `${line.slice(0, MAX_TITLE_LENGTH - 1)}…` : line;
}

/** In the top bar: which step, how the picture comes, how fast, and who proposes. */
import { useNetwork } from "@mantine/hooks";

import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { BarStatus } from "@/shared/ui/top-bar";
import { StatusDot, type Tone } from "@/shared/ui/status-dot";
import type { StreamStatus } from "@/streams/attach";

import { currentPolicy } from "@/features/annotate/proposals/current-policy";
import { useWorkspace } from "@/features/annotate/use-workspace";
import styles from "./workspace.module.css";

export function WorkspaceStatus({ stream }: { stream: StreamStatus | null }) {
  const { t } = useI18n();
  const { episode, steps, connection } = useWorkspace();
  const policy = currentPolicy(episode);
  const { online } = useNetwork();
  const connected = online && connection.phase === "online";
  return (
    <BarStatus>
      <span>{t("status.step", { number: steps.length + 1, most: episode.task.max_steps })}</span>
      {stream !== null && <StreamIndicator stream={stream} />}
      <StatusDot tone={connected ? "ok" : "warn"} pulse={!connected}>
        {!connected || connection.latency === null ? t("status.link") : t("status.round_trip", { ms: Math.round(connection.latency) })}
      </StatusDot>
      {policy !== null && <span className={styles.policy}>{policy.name} {policy.revision}</span>}
    </BarStatus>
  );
}

/** Stills and VNC work, but are worth a look. */
function StreamIndicator({ stream }: { stream: StreamStatus }) {
  const { t } = useI18n();
  const name = t(`stream.${stream.kind}`);
  if (stream.phase === "connecting") {
    return <StatusDot tone="busy" pulse><span title={stream.problem}>{t("stream.connecting", { name })}</span></StatusDot>;
  }
  const tone: Tone = stream.kind === "webrtc" ? "ok" : "warn";
  return (
    <StatusDot tone={tone}>
      <span title={stream.problem}>{describeStream(stream, name, t)}</span>
    </StatusDot>
  );
}

/** A screen that rests sends nothing: no frames is no fault. */
function describeStream({ fps, latency }: StreamStatus, name: string, t: Translate): string {
  const rounded = Math.round(fps);
  if (rounded === 0) return latency === null ? t("stream.rests", { name }) : t("stream.rests_latency", { name, ms: Math.round(latency) });
  if (latency === null) return t("stream.live", { name, fps: rounded });
  return t("stream.live_latency", { name, fps: rounded, ms: Math.round(latency) });
}

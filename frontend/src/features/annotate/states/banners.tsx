/** The notices over the stage, each with the one thing that can be done about it. */
import { Button } from "@mantine/core";
import { useMediaQuery, useNetwork } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey, KeyHint } from "@/shared/ui/key-hint";
import { autopilot, control, finish } from "@/features/annotate/commands";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { noticesOf, type Notice } from "./notices";
import { SupervisorNotes } from "./supervisor-notes";
import { useNow } from "./use-now";
import styles from "./states.module.css";

const TONES: Readonly<Record<Notice["name"], "danger" | "warn" | "takeover" | "autopilot" | "info">> = {
  signed_out: "danger",
  forbidden: "danger",
  missing: "danger",
  offline: "danger",
  reconnecting: "warn",
  held: "warn",
  view_only: "warn",
  lease: "warn",
  branch_reached: "info",
  branch_missed: "warn",
  undoing: "info",
  takeover: "takeover",
  autopilot: "autopilot",
  help_requested: "info",
  page_done: "warn",
  time_over: "warn",
  unsettled: "info",
  storage_full: "danger",
};

export function Banners() {
  const { view, connection } = useWorkspace();
  const { online } = useNetwork();
  const now = useNow();
  return (
    <div className={styles.banners} role="status" aria-live="polite">
      {noticesOf(view, connection, now, online).map((notice) => (
        <div key={notice.name} className={styles.banner} data-tone={TONES[notice.name]}>
          <NoticeText notice={notice} />
        </div>
      ))}
      <SupervisorNotes />
    </div>
  );
}

/** From so long on an undo says that it may take longer. */
const SLOW_UNDO_SECONDS = 3;

/* One short sentence each; the switch is over the union, so a new notice cannot be forgotten. */
 
function NoticeText({ notice }: { notice: Notice }): ReactNode {
  const { t } = useI18n();
  const { session, send, setDialog, askOutcome, screenKeyboardRef } = useWorkspace();
  const hasTouch = useMediaQuery("(any-pointer: coarse)");
  switch (notice.name) {
    case "signed_out":
      return <>{t("notice.signed_out")} <Button size="compact-xs" onClick={() => window.location.reload()}>{t("notice.sign_in")}</Button></>;
    case "forbidden":
    case "missing":
      return <>{t(`notice.${notice.name}`)} <Link to="/queue">{t("ended.queue")}</Link></>;
    case "offline":
    case "reconnecting":
      return (
        <>
          {t(`notice.${notice.name}`)} {notice.pending > 0 && t("connection.pending", { count: notice.pending })} {t("connection.saved")}
        </>
      );
    case "held":
      return (
        <>
          {t("notice.held", { count: notice.count })}
          <Button size="compact-xs" onClick={() => session.decideHeld("send")}>{t("notice.held.send")}</Button>
          <Button size="compact-xs" variant="default" onClick={() => session.decideHeld("discard")}>{t("notice.held.discard")}</Button>
        </>
      );
    case "view_only":
      return (
        <>
          {notice.free || notice.holder === "" ? t("notice.view_only") : t("notice.view_only_by", { holder: notice.holder })}
          <Button size="compact-xs" onClick={() => send({ type: "control" })} rightSection={<CommandKey command={control} />}>
            {t("workspace.control")}
          </Button>
        </>
      );
    case "lease":
      return t("notice.lease", { seconds: notice.seconds });
    case "takeover":
      return (
        <>
          <strong>{t("notice.takeover")}</strong> {t("notice.takeover.help")} <KeyHint keys="Escape" /> <KeyHint keys="Escape" />
          <Button size="compact-xs" variant="default" onClick={() => setDialog("takeover")}>{t("takeover.end")}</Button>
          {hasTouch && <Button size="compact-xs" variant="default" onClick={() => screenKeyboardRef.current?.toggle()}>{t("takeover.keyboard")}</Button>}
        </>
      );
    case "autopilot":
      return (
        <>
          <strong>{t("notice.autopilot")}</strong> {t("notice.autopilot.help")} <CommandKey command={autopilot} /> <KeyHint keys="Escape" />
          <Button size="compact-xs" variant="default" onClick={() => send({ type: "autopilot", on: false })}>{t("autopilot.stop")}</Button>
        </>
      );
    case "page_done":
    case "time_over":
      return (
        <>
          {t(`notice.${notice.name}`)}
          <Button size="compact-xs" onClick={() => askOutcome("finish")} rightSection={<CommandKey command={finish} />}>{t("workspace.finish")}</Button>
        </>
      );
    case "branch_reached":
      return t("branch.reached", { steps: t("branch.steps", { count: notice.branch.steps }) });
    case "branch_missed":
      return t("branch.missed", { steps: t("branch.steps", { count: notice.branch.steps }), reason: notice.branch.reason });
    case "undoing":
      return (
        <>
          {t("notice.undoing")} {notice.seconds >= SLOW_UNDO_SECONDS && <>{t("notice.undoing.slow")} <span aria-hidden>{t("notice.undoing.seconds", { count: notice.seconds })}</span></>}
        </>
      );
    case "help_requested":
    case "unsettled":
    case "storage_full":
      return t(`notice.${notice.name}`);
  }
}

/** The task and how it ended: what the annotator said beside what the verifier found. */
import { TriangleAlert } from "lucide-react";
import { Link } from "react-router";

import type { Branch, BrowserPage, Snapshot, Trajectory } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { disagree, OutcomeBadge, StatusBadge, VerdictBadge } from "@/shared/ui/badge";

import styles from "./replay.module.css";
import type { ReplayNote } from "./use-supervisor-notes";

type Props = { trajectory: Trajectory; state: Snapshot["state"]; annotator: string | undefined; notes: readonly ReplayNote[] };

export function Summary({ trajectory, state, annotator, notes }: Props) {
  const { t, moment } = useI18n();
  const { outcome, verdict, answer } = trajectory;
  const contradicted = disagree(outcome, verdict);
  return (
    <section className={styles.summary}>
      <h2 className={styles.instruction}>{trajectory.task.instruction}</h2>
      <p className={styles.facts}>
        <span>{state.pool}</span>
        {annotator && <span>{annotator}</span>}
        <span>{moment(trajectory.created_at)}</span>
        <PageTime page={(trajectory.steps[0]?.before ?? state.observation)?.page ?? null} />
        <BranchSource branch={trajectory.branch_of} />
        {state.status !== "finished" && <StatusBadge status={state.status} />}
      </p>
      <div className={styles.ending} data-contradicted={contradicted || undefined}>
        <dl>
          <dt>{t("replay.annotator_says")}</dt>
          <dd>
            <OutcomeBadge outcome={outcome} />
          </dd>
        </dl>
        <dl>
          <dt>{t("replay.verifier_says")}</dt>
          <dd>
            <VerdictBadge verdict={verdict} />
          </dd>
        </dl>
        {contradicted && (
          <p className={styles.contradiction} role="note">
            <TriangleAlert size={14} aria-hidden /> {t("verdict.disagrees")}
          </p>
        )}
        {verdict?.reason && <p className={styles.reason}>{verdict.reason}</p>}
        {answer && <p className={styles.reason}>{t("replay.answer", { answer })}</p>}
      </div>
      <Notes notes={notes} />
    </section>
  );
}

/** What supervisors told the annotator, and that one took control. */
function Notes({ notes }: Pick<Props, "notes">) {
  const { t, moment } = useI18n();
  if (notes.length === 0) return null;
  return (
    <ul className={styles.notes} aria-label={t("replay.supervisors")}>
      {notes.map(({ id, author, text, took_control, created_at }) => (
        <li key={id}>
          <strong>{author}</strong> {took_control ? t("replay.took_control") : (text ?? t("replay.wrote_note"))} <time dateTime={created_at}>{moment(created_at)}</time>
        </li>
      ))}
    </ul>
  );
}

/** The earlier attempt this one goes on from, or was to. */
function BranchSource({ branch }: { branch: Branch | null }) {
  const { t } = useI18n();
  if (branch === null) return null;
  const words = { steps: t("branch.steps", { count: branch.steps }), reason: branch.reason };
  return (
    <span>
      {t(branch.state === "missed" ? "branch.replay.missed" : "branch.replay", words)}{" "}
      <Link to={`/episodes/${branch.episode}`}>{t("branch.earlier")}</Link>
    </span>
  );
}

/** Of a browser: in which time its page lived, and from which seed everything random in it came. */
function PageTime({ page }: { page: BrowserPage | null }) {
  const { t } = useI18n();
  if (page === null) return null;
  return (
    <>
      <span title={t(`browser.clock.${page.clock}.help`)}>{t(`browser.clock.${page.clock}`)}</span>
      <span>{t("browser.seed", { seed: page.seed })}</span>
    </>
  );
}

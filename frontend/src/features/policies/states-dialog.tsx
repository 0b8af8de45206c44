/** Where a pool's active revision was overridden or failed; its tasks can be opened again. */
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import type { PoolPolicies, BranchCandidate } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { statesQuery, useChange } from "./api";

type Props = { readonly pool: PoolPolicies | null; readonly onClose: () => void };

export function StatesDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  const title = t("policies.states.title", { pool: pool?.name ?? "" });
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={title} size="xl">
      {pool && <States pool={pool} />}
    </Dialog>
  );
}

function States({ pool }: { pool: PoolPolicies }) {
  const { t } = useI18n();
  const states = useQuery(statesQuery(pool.id));
  if (states.isPending) return <Loading />;
  if (states.isError) return <ErrorState error={states.error} onRetry={() => void states.refetch()} />;
  if (states.data.length === 0) return <Empty title={t("policies.states.none")} />;
  return (
    <>
      <Text size="sm">{t("policies.states.help")}</Text>
      <StateTable states={states.data} />
    </>
  );
}

/** An attempt more: at this very state, which its steps are done again for, or from the task's start. */
function RedoButton({ state, change }: { state: BranchCandidate; change: ReturnType<typeof useChange> }) {
  const { t } = useI18n();
  const sent = change.isPending ? change.variables : null;
  return (
    <>
      {state.step > 0 && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={t("policies.state.begin_of", { task: state.kind, number: state.step + 1 })}
          loading={sent?.type === "begin" && sent.episode === state.episode && sent.step === state.step}
          disabled={!state.done}
          onClick={() => change.mutate({ type: "begin", episode: state.episode, step: state.step })}
        >
          {t("policies.state.begin")}
        </Button>
      )}
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("policies.state.reopen_of", { task: state.kind })}
        loading={sent?.type === "reopen" && sent.task === state.task}
        onClick={() => change.mutate({ type: "reopen", task: state.task })}
      >
        {t("policies.state.reopen")}
      </Button>
    </>
  );
}

function StateTable({ states }: { states: readonly BranchCandidate[] }) {
  const { t, percent } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={states}
        keyOf={(state) => `${state.episode} ${state.step}`}
        columns={[
          {
            header: t("policies.state.task"),
            kind: "name",
            cell: (state) => (
              <>
                <strong>{state.kind}</strong>{" "}
                <Link
                  to={`/episodes/${state.episode}`}
                  aria-label={t("policies.state.step_of", { number: state.step + 1, task: state.kind })}
                >
                  {t("policies.state.step", { number: state.step + 1 })}
                </Link>
              </>
            ),
          },
          {
            header: t("policies.state.why"),
            cell: (state) => <Badge tone={state.reason === "failed" ? "danger" : "override"}>{t(`policies.state.${state.reason}`)}</Badge>,
          },
          { header: t("policies.state.need"), kind: "number", cell: (state) => percent(state.weight) },
          {
            header: t("policies.state.reopen"),
            kind: "actions",
            cell: (state) => state.waiting ? t("policies.state.waiting") : <RedoButton state={state} change={change} />,
          },
        ]}
      />
    </>
  );
}

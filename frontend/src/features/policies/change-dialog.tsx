/** Changes who proposes in a pool, and says first what that does to the episodes under way. */
import { Alert, Button, Group, NativeSelect, NumberInput, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolPolicies, RevisionSummary } from "@/generated/api";
import { errorFor } from "@/shared/api/mutations";
import { useI18n, type I18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { nameOf, serverQuery, useChange, type Change } from "./api";

const WAYS = ["activate", "try", "end_trial", "nobody"] as const;
type Way = (typeof WAYS)[number];

type Props = {
  readonly pool: PoolPolicies | null;
  readonly revisions: readonly RevisionSummary[];
  readonly onClose: () => void;
};

export function ChangeDialog({ pool, revisions, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("policies.change.title", { pool: pool?.name ?? "" })}>
      {pool && <ChangeForm pool={pool} revisions={revisions} onDone={onClose} />}
    </Dialog>
  );
}

type FormProps = { pool: PoolPolicies; revisions: readonly RevisionSummary[]; onDone: () => void };

function ChangeForm({ pool, revisions, onDone }: FormProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const change = useChange();
  const [way, setWay] = useState<Way>(revisions.length > 0 ? "activate" : "nobody");
  const [revision, setRevision] = useState(pool.canary ?? pool.active ?? revisions[0]?.id ?? 0);
  const [share, setShare] = useState<number | string>(pool.canary_share || 10);
  const asksRevision = way === "activate" || way === "try";
  const wish = wishOf(way, pool, revision, share);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (wish) change.mutate(wish, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <SegmentedControl
          aria-label={t("policies.change.how")}
          value={way}
          onChange={(value) => setWay(WAYS.find((each) => each === value) ?? "activate")}
          data={WAYS.filter((value) => value !== "end_trial" || pool.canary !== null).map((value) => ({
            value,
            label: t(`policies.change.${value}`),
            disabled: (value === "activate" || value === "try") && revisions.length === 0,
          }))}
        />
        {asksRevision && (
          <NativeSelect
            label={t("policies.revision")}
            value={String(revision)}
            onChange={(event) => setRevision(Number(event.currentTarget.value))}
            data={revisions.map((each) => ({ value: String(each.id), label: nameOf(each) }))}
          />
        )}
        {way === "try" && (
          <NumberInput label={t("policies.change.percent")} value={share} onChange={setShare} min={1} max={100} />
        )}
        <Text size="sm" role="status">
          {effectOf(way, pool, share, i18n)}
        </Text>
        {asksRevision && revision > 0 && <ServerWarning revision={revision} />}
        <Problem error={errorFor(change, wish)} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={wish === null} loading={change.isPending}>
            {t("policies.change.confirm")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Says where the server of a revision does not work; it can be chosen all the same. */
function ServerWarning({ revision }: { revision: number }) {
  const { t } = useI18n();
  const server = useQuery(serverQuery(revision)).data;
  if (!server?.problem) return null;
  return (
    <Alert color="yellow">
      {t("policies.change.server")} {t(`health.problem.${server.problem}`)}
      {server.detail !== "" && ` (${server.detail})`}
    </Alert>
  );
}

/** What is asked of the server; null where it would change nothing, or a number is missing. */
export function wishOf(way: Way, pool: PoolPolicies, revision: number, share: number | string): Change | null {
  if (way === "nobody") return pool.active === null ? null : { type: "activate", pool: pool.id, revision: null };
  if (way === "activate") return revision === pool.active ? null : { type: "activate", pool: pool.id, revision };
  if (way === "end_trial") return { type: "try", pool: pool.id, revision: null, share: 0 };
  return typeof share === "number" && share > 0 && revision !== pool.active ? { type: "try", pool: pool.id, revision, share } : null;
}

function effectOf(way: Way, pool: PoolPolicies, share: number | string, { t, percent }: I18n): string {
  const count = pool.open_episodes;
  if (way === "end_trial") return t("policies.change.end_trial.effect");
  if (way !== "try") return t(`policies.change.${way}.effect`, { count });
  return t("policies.change.try.effect", { count, percent: percent(Number(share) / 100) });
}

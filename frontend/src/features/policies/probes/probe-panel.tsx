/** Tries a model: starts a probe, shows how far it is, and what it found. */
import { Button, Group, NativeSelect, Progress, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ProbeIn, ProbeOut } from "@/generated/api";
import { errorFor } from "@/shared/api/mutations";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { isUnderWay, probeQuery, probesQuery, sameModel, useProbeChange, type ProbeChange, type ProbeEndpoint } from "./api";
import { ProbeResult } from "./probe-result";
import styles from "./probes.module.css";

type Screens = NonNullable<ProbeIn["screens"]>;
const SCREENS: readonly Screens[] = ["desktop", "small"];

export function ProbePanel({ endpoint, disabled = false }: { endpoint: ProbeEndpoint; disabled?: boolean }) {
  const { t } = useI18n();
  const change = useProbeChange();
  const latest = useQuery(probesQuery);
  const known = latest.data?.find((probe) => sameModel(probe, endpoint));
  return (
    <Stack gap="sm">
      <Text size="sm">{t("probes.help")}</Text>
      <Start endpoint={endpoint} known={known} disabled={disabled} change={change} />
      <Problem error={errorFor(change, currentRequest(change.variables, endpoint, known))} />
      {known && <Found key={known.id} known={known} />}
    </Stack>
  );
}

/** The request as the panel would send it now: in a form, the endpoint changes while you type. */
function currentRequest(sent: ProbeChange | undefined, endpoint: ProbeEndpoint, known: ProbeOut | undefined): ProbeChange | null {
  if (sent?.type === "start") return { type: "start", probe: { ...sent.probe, ...endpoint } };
  return known ? { type: "cancel", id: known.id } : null;
}

type StartProps = {
  readonly endpoint: ProbeEndpoint;
  readonly known: ProbeOut | undefined;
  readonly disabled: boolean;
  readonly change: ReturnType<typeof useProbeChange>;
};

/** Starts a probe, or cancels the one under way. */
function Start({ endpoint, known, disabled, change }: StartProps) {
  const { t } = useI18n();
  const [chosen, setChosen] = useState<Screens | null>(null);
  const screens = chosen ?? known?.screens ?? "desktop";
  const running = known !== undefined && isUnderWay(known);
  return (
    <Group align="end">
      <NativeSelect
        label={t("probes.screens")}
        value={screens}
        onChange={(event) => setChosen(SCREENS.find((each) => each === event.currentTarget.value) ?? "desktop")}
        data={SCREENS.map((value) => ({
          value,
          label: t(`probes.screens.${value}`),
        }))}
      />
      {running ? (
        <Button variant="default" onClick={() => change.mutate({ type: "cancel", id: known.id })}>
          {t("common.cancel")}
        </Button>
      ) : (
        <Button
          variant="default"
          disabled={disabled}
          loading={change.isPending}
          onClick={() => change.mutate({ type: "start", probe: { ...endpoint, screens } })}
        >
          {t(known ? "probes.again" : "probes.start")}
        </Button>
      )}
    </Group>
  );
}

/** How far a probe is, or what it found. */
function Found({ known }: { known: ProbeOut }) {
  const probe = useQuery(probeQuery(known.id));
  const current = probe.data ?? known;
  return (
    <>
      <Problem error={probe.error} />
      <ProbeProgress probe={current} />
      {current.report && !isUnderWay(current) && <ProbeResult report={current.report} />}
    </>
  );
}

function ProbeProgress({ probe }: { probe: ProbeOut }) {
  const { t } = useI18n();
  if (probe.status === "failed") return <div className={styles.failed}>{t("probes.failed_why", { why: probe.error })}</div>;
  if (!isUnderWay(probe)) return null;
  const { answered, questions } = probe;
  return (
    <div role="status">
      <Text size="sm">{questions > 0 ? t("probes.progress", { count: answered, all: questions }) : t("probes.starting")}</Text>
      <Progress value={questions > 0 ? (answered / questions) * 100 : 0} aria-label={t("probes.running")} />
    </div>
  );
}

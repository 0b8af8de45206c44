/** What programs inside the machine serve, seen through the bridge: the notebook server, the code editor, a web app being built. */
import { Button, NumberInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useState, type Ref, type SyntheticEvent } from "react";

import { messageOf, request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import styles from "./preview.module.css";

/** Where a program inside the machine listens, and what it is called. */
interface PreviewTarget {
  readonly port: number;
  readonly path: string;
  readonly title: string;
}

const MAX_PORT = 65_535;

export function PreviewPanel() {
  const { t } = useI18n();
  const { episode, panelRef } = useWorkspace();
  const at = `/episodes/${encodeURIComponent(episode.id)}` as const;
  const services = useQuery({ queryKey: ["episode", episode.id, "services"], queryFn: () => request("GET", `${at}/services`), retry: false });
  const [port, setPort] = useState<number | string>(8000);
  const opening = useMutation({
    mutationFn: async ({ port: at_port, path, title }: PreviewTarget) => {
      const { url } = await request("POST", `${at}/tickets`, { kind: "proxy", port: at_port, path });
      return { url, title };
    },
  });
  const apart = useMutation({
    mutationFn: async ({ port: at_port, path }: PreviewTarget) => {
      const { url } = await request("POST", `${at}/tickets`, { kind: "proxy", port: at_port, path });
      window.open(url, "_blank", "noopener");
    },
  });
  const typed: PreviewTarget = { port: Number(port), path: "", title: t("preview.port", { port }) };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (Number.isInteger(typed.port) && typed.port > 0) opening.mutate(typed);
  };
  const places: PreviewTarget[] = services.data?.map(({ port: number, path, title }) => ({ port: number, path, title })) ?? [];
  const problem = opening.error ?? apart.error ?? services.error;
  const preview = opening.data ?? null;
  return (
    <div className={panel.column}>
      <div className={panel.bar}>
        {places.map((place) => (
          <Button.Group key={place.port}>
            <Button size="compact-xs" variant="default" loading={opening.isPending && opening.variables.port === place.port} onClick={() => opening.mutate(place)}>{place.title}</Button>
            <Button size="compact-xs" variant="default" aria-label={t("preview.apart", { title: place.title })} onClick={() => apart.mutate(place)}><ExternalLink size={12} /></Button>
          </Button.Group>
        ))}
        <form className={panel.bar} onSubmit={submit}>
          <NumberInput ref={panelRef as Ref<HTMLInputElement>} size="xs" w={84} aria-label={t("preview.number")} min={1} max={MAX_PORT} allowDecimal={false} hideControls value={port} onChange={setPort} />
          <Button type="submit" size="compact-xs" variant="default">{t("preview.open")}</Button>
        </form>
        <span className={panel.note}>{t("preview.unrecorded")}</span>
      </div>
      {problem !== null && <p className={panel.wrong} role="alert">{messageOf(problem, t).text}</p>}
      {preview === null ? <p className={panel.quiet}>{t("preview.none")}</p> : (
        <iframe inert={episode.autopilot} key={preview.url} className={styles.frame} src={preview.url} title={preview.title} sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-downloads allow-modals" />
      )}
    </div>
  );
}

/** Takes over a graph from a file once it was seen what that would change. */
import { Button, FileButton } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { designQuery } from "./api";
import styles from "./design.module.css";

const MAX_FAULTS = 20;

export function GraphFile() {
  const { t } = useI18n();
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const work = useMutation({
    mutationFn: ({ chosen, preview }: { chosen: File; preview: boolean }) => {
      const form = new FormData();
      form.set("file", chosen);
      form.set("kind", /\.json$/i.test(chosen.name) ? "json" : "csv");
      form.set("preview", String(preview));
      return request("POST", "/design/graph", form);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: designQuery.queryKey }),
  });
  const close = () => {
    setFile(null);
    work.reset();
  };
  const report = work.data;
  return (
    <>
      <FileButton
        accept=".csv,.json"
        onChange={(chosen) => {
          setFile(chosen);
          if (chosen) work.mutate({ chosen, preview: true });
        }}
      >
        {(props) => (
          <Button {...props} variant="default" size="compact-sm">
            {t("design.import")}
          </Button>
        )}
      </FileButton>
      <Dialog opened={file !== null} onClose={close} title={t("design.import.of", { name: file?.name ?? "" })}>
        <div className={styles.stack}>
          <Problem error={work.error} />
          {report?.faults.length === 0 && (
            <p role="status">{t("design.import.would", { added: report.added, changed: report.changed })}</p>
          )}
          {report && report.faults.length > 0 && (
            <>
              <p role="alert">{t("design.import.faults", { count: report.faults.length })}</p>
              <ul>
                {report.faults.slice(0, MAX_FAULTS).map(({ row, reason }) => (
                  <li key={`${row} ${reason}`}>{t("design.import.fault", { row, reason })}</li>
                ))}
              </ul>
            </>
          )}
          <Button
            disabled={!report || report.faults.length > 0}
            loading={work.isPending}
            onClick={() => file && work.mutate({ chosen: file, preview: false }, { onSuccess: close })}
          >
            {t("design.import.do")}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

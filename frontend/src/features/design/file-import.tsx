/** Takes over a file once it was seen what that would change. */
import { Button, FileButton } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { designQuery } from "./api";
import styles from "./design.module.css";

const MAX_FAULTS = 20;

type Props<Report, Fault> = {
  readonly accept: string;
  readonly send: (file: File, preview: boolean) => Promise<Report>;
  readonly faultsOf: (report: Report) => readonly Fault[];
  readonly faultText: (fault: Fault) => string;
  /** What the file would change. */
  readonly summary: (report: Report) => ReactNode;
};

export function FileImport<Report, Fault>({ accept, send, faultsOf, faultText, summary }: Props<Report, Fault>) {
  const { t } = useI18n();
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const work = useMutation({
    mutationFn: ({ chosen, preview }: { chosen: File; preview: boolean }) => send(chosen, preview),
    onSuccess: () => client.invalidateQueries({ queryKey: designQuery.queryKey }),
  });
  const close = () => {
    setFile(null);
    work.reset();
  };
  const report = work.data;
  const faults = report ? faultsOf(report).map(faultText) : [];
  return (
    <>
      <FileButton
        accept={accept}
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
          {report !== undefined && faults.length === 0 && <div role="status">{summary(report)}</div>}
          {faults.length > 0 && (
            <>
              <p role="alert">{t("design.import.faults", { count: faults.length })}</p>
              <ul>
                {faults.slice(0, MAX_FAULTS).map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </>
          )}
          <Button
            disabled={report === undefined || faults.length > 0}
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

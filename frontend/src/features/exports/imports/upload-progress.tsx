/** How far the upload of this page is, and the unfinished ones of earlier visits. */
import { Button, FileButton, Group, Progress } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { UploadOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";

import { cancelUpload, uploadsQuery } from "./api";
import styles from "./imports.module.css";
import { isUploadOf } from "./upload";
import type { Upload } from "./use-upload";

type Props = {
  readonly upload: Upload;
  readonly onPause: () => void;
  readonly onResume: () => void;
  readonly onCancel: () => Promise<void>;
};

export function UploadProgress({ upload, onPause, onResume, onCancel }: Props) {
  const { t, bytes, percent } = useI18n();
  const { file, sent, speed, phase } = upload;
  const share = file.size > 0 ? sent / file.size : 0;
  const figures = t("imports.upload.sent", { sent: bytes(sent), size: bytes(file.size) });
  const state = upload.problem
    ? t("imports.upload.retrying")
    : phase === "sending"
      ? speed === null
        ? ""
        : t("imports.upload.speed", { speed: bytes(speed) })
      : t(phase === "paused" ? "imports.upload.paused" : "imports.upload.failed");
  return (
    <section className={styles.upload} aria-label={t("imports.upload.of", { name: file.name })}>
      <div className={styles.uploadHead}>
        <strong className={styles.uploadName}>{file.name}</strong>
        <span>
          {percent(share)} · {figures}
        </span>
        <span role="status">{state}</span>
      </div>
      <Progress value={share * 100} aria-label={t("imports.upload.of", { name: file.name })} />
      <Group gap="xs">
        {phase === "sending" ? (
          <Button variant="default" size="compact-sm" onClick={onPause}>
            {t("imports.upload.pause")}
          </Button>
        ) : (
          <Button size="compact-sm" onClick={onResume}>
            {t("imports.upload.resume")}
          </Button>
        )}
        <ConfirmButton
          size="compact-sm"
          label={t("imports.upload.cancel")}
          ariaLabel={t("imports.upload.cancel_of", { name: file.name })}
          confirmation={t("imports.upload.cancel.ask")}
          onConfirm={onCancel}
        />
      </Group>
      <Problem error={upload.error} />
    </section>
  );
}

/** Uploads that wait for their file: a page cannot keep it over a reload. */
export function UnfinishedUploads({ onFile }: { readonly onFile: (file: File, pool: string) => void }) {
  const uploads = useQuery(uploadsQuery);
  return uploads.data?.map((upload) => <UnfinishedUpload key={upload.id} upload={upload} onFile={onFile} />);
}

function UnfinishedUpload({ upload, onFile }: { readonly upload: UploadOut; readonly onFile: (file: File, pool: string) => void }) {
  const { t, bytes, moment } = useI18n();
  const client = useQueryClient();
  const [other, setOther] = useState(false);
  const cancel = useMutation({
    mutationFn: () => cancelUpload(upload.id),
    onSettled: () => client.invalidateQueries({ queryKey: uploadsQuery.queryKey }),
  });
  const choose = (file: File | null) => {
    if (file === null) return;
    setOther(!isUploadOf(upload, file));
    if (isUploadOf(upload, file)) onFile(file, upload.pool);
  };
  return (
    <section className={styles.upload} aria-label={t("imports.upload.of", { name: upload.name })}>
      <div className={styles.uploadHead}>
        <strong className={styles.uploadName}>{upload.name}</strong>
        <span>{t("imports.upload.sent", { sent: bytes(upload.offset), size: bytes(upload.size) })}</span>
        <span>{t("imports.upload.unfinished", { when: moment(upload.expires_at) })}</span>
      </div>
      <Group gap="xs">
        <FileButton onChange={choose}>
          {(props) => (
            <Button {...props} size="compact-sm" aria-label={t("imports.upload.choose_of", { name: upload.name })}>
              {t("imports.upload.choose")}
            </Button>
          )}
        </FileButton>
        <ConfirmButton
          size="compact-sm"
          label={t("imports.upload.cancel")}
          ariaLabel={t("imports.upload.cancel_of", { name: upload.name })}
          confirmation={t("imports.upload.cancel.ask")}
          onConfirm={() => cancel.mutateAsync()}
        />
      </Group>
      {other && (
        <p className={styles.error} role="alert">
          {t("imports.upload.other")}
        </p>
      )}
    </section>
  );
}

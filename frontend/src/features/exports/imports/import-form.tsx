/** Which file to take in, chosen or dropped. */
import { Button, FileInput, TextInput } from "@mantine/core";
import { Upload } from "lucide-react";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./imports.module.css";
import { UnfinishedUploads, UploadProgress } from "./upload-progress";
import { useUpload } from "./use-upload";

export function ImportForm() {
  const { t } = useI18n();
  const [file, setFile] = useState<File | null>(null);
  const [pool, setPool] = useState("");
  const [over, setOver] = useState(false);
  const { upload, send, pause, cancel } = useUpload();
  const begin = (chosen: File, name: string) => {
    setFile(null);
    setPool("");
    void send(chosen, name);
  };

  if (upload) {
    return <UploadProgress upload={upload} onPause={pause} onResume={() => void send(upload.file, upload.pool)} onCancel={cancel} />;
  }
  return (
    <>
      <UnfinishedUploads onFile={begin} />
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (file !== null) begin(file, pool);
        }}
      >
        <p className={styles.help}>{t("imports.help")}</p>
        <FileInput
          label={t("imports.file")}
          placeholder={t("imports.choose")}
          accept=".zip,.tar,.gz,.tgz,.jsonl,.ndjson"
          clearable
          w={280}
          classNames={{ input: styles.drop }}
          value={file}
          onChange={setFile}
          data-over={over || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            setFile(event.dataTransfer.files.item(0));
          }}
        />
        <TextInput
          label={t("imports.pool")}
          placeholder={t("imports.pool.own")}
          maxLength={100}
          w={240}
          value={pool}
          onChange={(event) => setPool(event.currentTarget.value)}
        />
        <Button type="submit" leftSection={<Upload size={15} />} disabled={file === null}>
          {t("imports.start")}
        </Button>
      </form>
    </>
  );
}

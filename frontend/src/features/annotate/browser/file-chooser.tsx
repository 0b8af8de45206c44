/** Where a page asks for files: those it may have, and a way to bring one more; choosing is a step like any other. */
import { Button, Checkbox, FileButton } from "@mantine/core";
import { useState } from "react";

import type { Action, FileChooser } from "@/generated/vocabulary";
import { useUpload } from "@/features/annotate/panels/files/upload";
import { viewedObservation } from "@/features/annotate/viewport/viewed-step";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./browser.module.css";

/** Nothing while no page asks. */
export function FileChooserPanel() {
  const chooser = viewedObservation(useWorkspace())?.page?.chooser ?? null;
  return chooser === null ? null : <FileChooserForm chooser={chooser} />;
}

function FileChooserForm({ chooser: { several, files } }: { chooser: FileChooser }) {
  const { t, bytes } = useI18n();
  const { episode, canAct, viewedStep, perform } = useWorkspace();
  const can = (kind: Action["kind"]) => canAct && viewedStep === null && episode.capabilities.includes(kind);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const upload = useUpload((name) => name);
  const choose = (names: readonly string[]) => perform({ kind: "choose_files", files: [...names] });
  const toggle = (name: string) => setChosen(several ? (chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]) : [name]);
  return (
    <section className={styles.files} aria-label={t("browser.files")}>
      <p role="status">{t(several ? "browser.files.several" : "browser.files.one")}</p>
      {files.length === 0 && <p className={styles.quiet}>{t("browser.files.none")}</p>}
      <ul>
        {files.map(({ name, size }) => (
          <li key={name}>
            <Checkbox
              size="xs"
              label={`${name} · ${bytes(size)}`}
              checked={chosen.includes(name)}
              disabled={!can("choose_files")}
              onChange={() => toggle(name)}
            />
          </li>
        ))}
      </ul>
      {upload.problem !== "" && <p role="alert">{upload.problem}</p>}
      <div className={styles.row}>
        <Button size="compact-xs" disabled={!can("choose_files") || chosen.length === 0} onClick={() => choose(chosen)}>
          {t("browser.files.choose")}
        </Button>
        <Button size="compact-xs" variant="default" disabled={!can("choose_files")} onClick={() => choose([])}>
          {t("browser.files.cancel")}
        </Button>
        <FileButton onChange={(file) => file && upload.take([file])} disabled={!can("upload_file")}>
          {(props) => (
            <Button {...props} size="compact-xs" variant="default" loading={upload.busy}>
              {t("browser.files.bring")}
            </Button>
          )}
        </FileButton>
      </div>
    </section>
  );
}

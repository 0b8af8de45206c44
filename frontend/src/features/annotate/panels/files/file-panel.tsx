/** The machine's files: look around, read, write, bring in and out. What reads or changes a file is a step. */
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";

import type { Action } from "@/generated/vocabulary";
import type { Texts } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { blobUrlOf } from "@/shared/api/episodes";
import { CodeEditor } from "@/features/annotate/panels/code-editor";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import { contentsOf, lastUsedFile, saveAction } from "./contents";
import { FolderList } from "./folder-list";
import styles from "./files.module.css";

export function FilePanel() {
  const { steps, perform } = useWorkspace();
  const [folder, setFolder] = useState(".");
  const [chosen, setChosen] = useState<{ path: string; step: number } | null>(null);
  const used = lastUsedFile(steps.slice(chosen?.step ?? 0)) ?? chosen?.path ?? lastUsedFile(steps);
  const open = (path: string) => {
    setChosen({ path, step: steps.length });
    perform({ kind: "read_file", path });
  };
  return (
    <div className={panel.split}>
      <FolderList folder={folder} onFolder={setFolder} onOpen={open} onNew={(path) => setChosen({ path, step: steps.length })} />
      {used === null ? <NoFile /> : <OpenFile key={used} path={used} onRead={open} />}
    </div>
  );
}

function NoFile() {
  const { t } = useI18n();
  return <p className={panel.quiet}>{t("files.none")}</p>;
}

/** The file that is open; what is changed in it is a step once it is saved. */
function OpenFile({ path, onRead }: { path: string; onRead: (path: string) => void }) {
  const { t } = useI18n();
  const { perform, focusOn, viewportRef } = useWorkspace();
  const can = useCapabilities();
  const file = useEditedFile(path);
  const writable = can("write_file") && !file.cut;
  const save = () => {
    if (file.dirty && writable) perform(file.saveAction());
  };
  return (
    <div className={panel.column}>
      <div className={panel.bar}>
        <code className={styles.path} title={path}>{path}</code>
        {file.dirty && <span className={styles.mark}>{t("files.changed")}</span>}
        <span className={panel.space} />
        <Button size="compact-xs" variant="subtle" disabled={!can("read_file")} onClick={() => onRead(path)}>{t("files.read")}</Button>
        <Button size="compact-xs" variant="subtle" disabled={!can("download_file")} onClick={() => perform({ kind: "download_file", path })}>{t("files.download")}</Button>
        <Download path={path} />
        <Button size="compact-xs" disabled={!file.dirty || !writable} onClick={save}>{t("files.save")}</Button>
      </div>
      {file.notice !== null && <p className={panel.quiet} role="status">{t(file.notice)}</p>}
      <CodeEditor
        value={file.text}
        onChange={file.write}
        name={path}
        label={t("files.text", { path })}
        readOnly={!writable}
        keys={{ "Mod-s": save }}
        onLeave={() => focusOn(viewportRef)}
      />
    </div>
  );
}

/** Whether this page may do an act of a kind now. */
function useCapabilities(): (kind: Action["kind"]) => boolean {
  const { episode, canAct } = useWorkspace();
  return (kind) => canAct && episode.capabilities.includes(kind);
}

/** A file's text as the record has it, under what is being written over it. */
function useEditedFile(path: string) {
  const { steps, drafts, episode: { id, capabilities } } = useWorkspace();
  const contents = contentsOf(steps, path);
  const known = contents?.text ?? null;
  const { texts, changed, change, clear } = useTexts<Texts>(drafts, id, `file.${path}`, {});
  const text = texts.text ?? known ?? "";
  const dirty = changed && text !== known;
  const isSaved = changed && text === known;
  // Once the record has what was written, nothing of it is kept beside it.
  useEffect(() => {
    if (isSaved) clear();
  });
  /** What it is written over; nothing where the file was not read. */
  const over = changed ? (texts.over ?? null) : known;
  const cut = contents?.cut === true;
  return {
    text,
    dirty,
    cut,
    notice: noticeOf(cut, dirty && over !== known, known === null && !dirty),
    write: (text: string) => (text === known ? clear() : change(over === null ? { text } : { text, over })),
    saveAction: () => saveAction(path, known, text, capabilities),
  };
}

function noticeOf(cut: boolean, changedMeanwhile: boolean, unread: boolean) {
  if (cut) return "files.cut" as const;
  if (changedMeanwhile) return "files.overtaken" as const;
  return unread ? ("files.unread" as const) : null;
}

/** The bytes a download brought out last, to be kept. */
function Download({ path }: { path: string }) {
  const { t } = useI18n();
  const { episode, steps } = useWorkspace();
  const step = steps.findLast(({ action }) => action.kind === "download_file" && action.path === path);
  const file = step?.after?.attachment;
  if (file == null) return null;
  const name = path.split("/").at(-1) ?? path;
  return <Button component="a" size="compact-xs" variant="light" href={blobUrlOf(episode.id)(file.sha256)} download={name}>{t("files.keep", { name })}</Button>;
}

/** A folder of the machine: go through it, open a file, drop one in. Looking is no step. */
import { ActionIcon, Button, FileButton, TextInput, Tooltip, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ArrowUp, FilePlus, ListPlus, Upload } from "lucide-react";
import { useState, type DragEvent, type Ref } from "react";

import type { FileEntry } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import { folderQuery } from "./api";
import { pathIn } from "./contents";
import { useUpload } from "./upload";
import styles from "./files.module.css";

interface Props {
  readonly folder: string;
  readonly onFolder: (path: string) => void;
  readonly onOpen: (path: string) => void;
  /** Begins a file that is not there yet. */
  readonly onNew: (path: string) => void;
}

/** How the home folder is written for people; paths that are not absolute begin there. */
const HOME = "~";

export function FolderList({ folder, onFolder, onOpen, onNew }: Props) {
  const i18n = useI18n();
  const { t } = i18n;
  const { episode, canAct, perform, panelRef, focusOn, viewportRef } = useWorkspace();
  const found = useQuery(folderQuery(episode.id, folder, episode.version));
  const [written, setWritten] = useState<string | null>(null);
  const upload = useUpload((name) => pathIn(folder, name));
  const can = (kind: string) => canAct && episode.capabilities.includes(kind);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (can("upload_file")) upload.take([...event.dataTransfer.files]);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- files can be dropped here; the button does the same
    <div className={panel.folder} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <form
        className={panel.bar}
        onSubmit={(event) => {
          event.preventDefault();
          if (written !== null) onFolder(written.trim() === HOME || written.trim() === "" ? "." : written.trim());
          setWritten(null);
        }}
      >
        <ActionIcon size="sm" aria-label={t("files.up")} disabled={folder === "/"} onClick={() => onFolder(pathIn(folder, ".."))}>
          <ArrowUp size={14} />
        </ActionIcon>
        <TextInput
          ref={panelRef as Ref<HTMLInputElement>}
          className={panel.grow}
          aria-label={t("files.path")}
          value={written ?? (folder === "." ? HOME : folder)}
          onChange={(event) => setWritten(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            focusOn(viewportRef);
          }}
        />
        <Tooltip label={t("files.record.help")} multiline w={240}>
          <ActionIcon size="sm" aria-label={t("files.record")} disabled={!can("list_files")} onClick={() => perform({ kind: "list_files", path: folder })}>
            <ListPlus size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t("files.new.help")} multiline w={240}>
          <ActionIcon size="sm" aria-label={t("files.new")} disabled={!can("write_file")} onClick={() => onNew(written ?? pathIn(folder, "new.txt"))}>
            <FilePlus size={14} />
          </ActionIcon>
        </Tooltip>
        <FileButton onChange={(file) => file && upload.take([file])} disabled={!can("upload_file")}>
          {(props) => (
            <Tooltip label={t("files.upload.help")}>
              <ActionIcon {...props} size="sm" aria-label={t("files.upload")} loading={upload.busy}>
                <Upload size={14} />
              </ActionIcon>
            </Tooltip>
          )}
        </FileButton>
      </form>
      {upload.problem !== "" && <p className={panel.wrong} role="alert">{upload.problem}</p>}
      {found.error !== null && (
        <div className={panel.quiet} role="alert">
          <p>{messageOf(found.error, t).text}</p>
          <Button size="compact-xs" variant="default" onClick={() => void found.refetch()}>{t("common.retry")}</Button>
        </div>
      )}
      {found.isPending && <p className={panel.quiet} role="status">{t("common.loading")}</p>}
      {found.data?.entries.length === 0 && <p className={panel.quiet}>{t("files.empty")}</p>}
      <ul className={panel.entries} aria-label={t("files.folder")}>
        {found.data?.entries.map((entry) => (
          <li key={entry.name}>
            <Entry entry={entry} onClick={() => (entry.kind === "folder" ? onFolder : onOpen)(pathIn(folder, entry.name))} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const SIGNS: Readonly<Record<FileEntry["kind"], string>> = { folder: "▸", file: "", link: "↪", other: "·" };

function Entry({ entry: { name, kind, size, modified }, onClick }: { entry: FileEntry; onClick: () => void }) {
  const { bytes, moment } = useI18n();
  return (
    <UnstyledButton className={styles.entry} onClick={onClick} disabled={kind === "other"} title={moment(modified)}>
      <span className={styles.sign} aria-hidden>{SIGNS[kind]}</span>
      <span className={styles.name}>{kind === "folder" ? `${name}/` : name}</span>
      <span className={styles.size}>{kind === "folder" ? "" : bytes(size)}</span>
    </UnstyledButton>
  );
}

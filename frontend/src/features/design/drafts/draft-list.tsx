/** The drafts of a page: gone through by keys, chosen, and decided on one by one or together. */
import { Button } from "@mantine/core";
import { useEffect, useRef, useState, type ReactNode } from "react";

import type { DraftOut, DraftsOverview, DraftsPage } from "@/generated/api";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { PageButtons } from "@/features/design/page-buttons";
import { AcceptDialog } from "./accept-dialog";
import { useDraftChange } from "./api";
import { draftCommands } from "./commands";
import { EditDialog } from "./draft-form";
import { DraftItem } from "./draft-item";
import styles from "./drafts.module.css";
import { RejectDialog } from "./reject-dialog";

type Props = {
  readonly page: DraftsPage;
  readonly overview: DraftsOverview;
  readonly after: number;
  readonly onPage: (after: number) => void;
  readonly admin: boolean;
};

type Opened = { readonly what: "accept" | "reject" | "edit"; readonly drafts: readonly DraftOut[] };

export function DraftList({ page, overview, after, onPage, admin }: Props) {
  const { t } = useI18n();
  const [poolId, setPoolId] = useState<number | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const { current, selection, waiting, concerned, choose, setCurrentId, setChosen, go } = useSelection(page.items);
  const change = useDraftChange();
  const undoable = useUndoable();
  const open = (what: Opened["what"], drafts: readonly DraftOut[]) => setOpened({ what, drafts });
  const close = () => setOpened(null);
  const chooseNone = () => setChosen(new Set());
  const reject = (drafts: readonly DraftOut[], reason: string) => {
    close();
    chooseNone();
    undoable({
      act: () => change.mutateAsync({ type: "reject", drafts: idsOf(drafts), reason }),
      done: t("drafts.rejected", { count: drafts.length }),
      undo: () => change.mutateAsync({ type: "reopen", drafts: idsOf(drafts) }),
    });
  };
  const decides = admin && opened === null;
  const editable = decides && current?.state === "waiting" ? current : null;
  useCommands([
    { command: draftCommands.next, run: () => go(1) },
    { command: draftCommands.previous, run: () => go(-1) },
    { command: draftCommands.choose, enabled: editable !== null, run: () => editable && choose(editable, !selection.includes(editable)) },
    { command: draftCommands.accept, enabled: decides && concerned.length > 0, run: () => open("accept", concerned) },
    { command: draftCommands.reject, enabled: decides && concerned.length > 0, run: () => open("reject", concerned) },
    { command: draftCommands.edit, enabled: editable !== null, run: () => editable && open("edit", [editable]) },
  ]);
  return (
    <>
      {admin && waiting.length > 0 && (
        <BulkBar
          chosen={selection.length}
          concerned={concerned.length}
          all={waiting.length}
          onAll={() => setChosen(new Set(idsOf(waiting)))}
          onNone={chooseNone}
          onOpen={(what) => open(what, concerned)}
        />
      )}
      <Problem error={change.error} />
      <ul className={styles.drafts}>
        {page.items.map((draft) => (
          <Row key={draft.id} isCurrent={draft.id === current?.id}>
            <DraftItem
              draft={draft}
              admin={admin}
              isChosen={selection.includes(draft)}
              onChoose={(on) => {
                setCurrentId(draft.id);
                choose(draft, on);
              }}
              onEdit={() => {
                setCurrentId(draft.id);
                open("edit", [draft]);
              }}
              onReopen={() => change.mutate({ type: "reopen", drafts: [draft.id] })}
            />
          </Row>
        ))}
      </ul>
      <PageButtons after={after} next={page.after} onPage={onPage} />
      {opened && (
        <DecisionDialog
          opened={opened}
          overview={overview}
          poolId={poolId}
          onPool={setPoolId}
          onClose={close}
          onAccepted={chooseNone}
          onReject={(reason) => reject(opened.drafts, reason)}
        />
      )}
    </>
  );
}

type DialogProps = {
  readonly opened: Opened;
  readonly overview: DraftsOverview;
  readonly poolId: number | null;
  readonly onPool: (id: number) => void;
  readonly onClose: () => void;
  readonly onAccepted: () => void;
  readonly onReject: (reason: string) => void;
};

function DecisionDialog({ opened: { what, drafts }, overview, poolId, onPool, onClose, onAccepted, onReject }: DialogProps) {
  switch (what) {
    case "accept":
      return <AcceptDialog drafts={drafts} pools={overview.pools} poolId={poolId} onPool={onPool} onClose={onClose} onDone={onAccepted} />;
    case "reject":
      return <RejectDialog count={drafts.length} onClose={onClose} onReject={onReject} />;
    case "edit":
      return drafts.map((draft) => <EditDialog key={draft.id} draft={draft} overview={overview} onClose={onClose} />);
  }
}

const idsOf = (drafts: readonly DraftOut[]) => drafts.map(({ id }) => id);

/** Which draft keys are about, and which are chosen; what is decided concerns the chosen ones, else the current one. */
function useSelection(items: readonly DraftOut[]) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [currentId, setCurrentId] = useState(items[0]?.id ?? 0);
  const place = Math.max(0, items.findIndex(({ id }) => id === currentId));
  const current = items[place];
  const waiting = items.filter(({ state }) => state === "waiting");
  const selection = waiting.filter(({ id }) => chosen.has(id));
  return {
    current,
    waiting,
    selection,
    concerned: selection.length > 0 ? selection : waiting.filter((draft) => draft === current),
    choose: ({ id }: DraftOut, on: boolean) => setChosen(new Set([...chosen].filter((one) => one !== id).concat(on ? id : []))),
    go: (step: number) => setCurrentId(items[Math.min(items.length - 1, Math.max(0, place + step))]?.id ?? 0),
    setChosen,
    setCurrentId,
  };
}

type BulkBarProps = {
  readonly chosen: number;
  readonly concerned: number;
  readonly all: number;
  readonly onAll: () => void;
  readonly onNone: () => void;
  readonly onOpen: (what: "accept" | "reject") => void;
};

function BulkBar({ chosen, concerned, all, onAll, onNone, onOpen }: BulkBarProps) {
  const { t } = useI18n();
  return (
    <div className={styles.bulk} role="group" aria-label={t("drafts.chosen", { count: chosen })}>
      <span aria-live="polite">{t("drafts.chosen", { count: chosen })}</span>
      <Button size="compact-sm" variant="subtle" onClick={chosen === all ? onNone : onAll}>
        {t(chosen === all ? "drafts.choose_none" : "drafts.choose_all")}
      </Button>
      <Button
        size="compact-sm"
        disabled={concerned === 0}
        onClick={() => onOpen("accept")}
        rightSection={<CommandKey command={draftCommands.accept} />}
      >
        {t("drafts.accept_some", { count: concerned })}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        disabled={concerned === 0}
        onClick={() => onOpen("reject")}
        rightSection={<CommandKey command={draftCommands.reject} />}
      >
        {t("drafts.reject_some", { count: concerned })}
      </Button>
    </div>
  );
}

/** Where keys lead to is seen and comes into view. */
function Row({ isCurrent, children }: { isCurrent: boolean; children: ReactNode }) {
  const row = useRef<HTMLLIElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isCurrent && !isFirst.current) row.current?.scrollIntoView({ block: "nearest" });
    isFirst.current = false;
  }, [isCurrent]);
  return (
    <li ref={row} className={styles.draft} data-current={isCurrent || undefined} aria-current={isCurrent || undefined}>
      {children}
    </li>
  );
}

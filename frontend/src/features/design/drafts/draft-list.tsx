/** The drafts of a page: gone through by keys, chosen, and decided on one by one or together. */
import { Button } from "@mantine/core";
import { useEffect, useRef, useState, type ReactNode } from "react";

import type { DraftOut, DraftsOverview, DraftsPage } from "@/generated/api";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

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

type Opened = { readonly what: "accept" | "reject" | "edit"; readonly drafts: readonly DraftOut[] } | null;

export function DraftList({ page, overview, after, onPage, admin }: Props) {
  const { t } = useI18n();
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [currentId, setCurrentId] = useState(page.items[0]?.id ?? 0);
  const [poolId, setPoolId] = useState<number | null>(null);
  const [opened, setOpened] = useState<Opened>(null);
  const change = useDraftChange();
  const undoable = useUndoable();
  const place = Math.max(0, page.items.findIndex(({ id }) => id === currentId));
  const current = page.items[place];
  const waiting = page.items.filter(({ state }) => state === "waiting");
  const selection = waiting.filter(({ id }) => chosen.has(id));
  const concerned = selection.length > 0 ? selection : waiting.filter(({ id }) => id === current?.id);
  const ids = (drafts: readonly DraftOut[]) => drafts.map(({ id }) => id);
  const open = (what: NonNullable<Opened>["what"], drafts: readonly DraftOut[]) => setOpened({ what, drafts });
  const close = () => setOpened(null);
  const choose = (id: number, on: boolean) => setChosen(new Set([...chosen].filter((one) => one !== id).concat(on ? id : [])));
  const go = (step: number) => setCurrentId(page.items[Math.min(page.items.length - 1, Math.max(0, place + step))]?.id ?? 0);
  const reject = (drafts: readonly DraftOut[], reason: string) => {
    close();
    setChosen(new Set());
    undoable({
      act: () => change.mutateAsync({ type: "reject", drafts: ids(drafts), reason }),
      done: t("drafts.rejected", { count: drafts.length }),
      undo: () => change.mutateAsync({ type: "reopen", drafts: ids(drafts) }),
    });
  };
  const decides = admin && opened === null;
  useCommands([
    { command: draftCommands.next, run: () => go(1) },
    { command: draftCommands.previous, run: () => go(-1) },
    { command: draftCommands.choose, enabled: decides && current?.state === "waiting", run: () => current && choose(current.id, !chosen.has(current.id)) },
    { command: draftCommands.accept, enabled: decides && concerned.length > 0, run: () => open("accept", concerned) },
    { command: draftCommands.reject, enabled: decides && concerned.length > 0, run: () => open("reject", concerned) },
    { command: draftCommands.edit, enabled: decides && current?.state === "waiting", run: () => current && open("edit", [current]) },
  ]);
  return (
    <>
      {admin && waiting.length > 0 && (
        <div className={styles.bulk} role="group" aria-label={t("drafts.chosen", { count: selection.length })}>
          <span aria-live="polite">{t("drafts.chosen", { count: selection.length })}</span>
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => setChosen(new Set(selection.length === waiting.length ? [] : ids(waiting)))}
          >
            {t(selection.length === waiting.length ? "drafts.choose_none" : "drafts.choose_all")}
          </Button>
          <Button size="compact-sm" disabled={concerned.length === 0} onClick={() => open("accept", concerned)} rightSection={<CommandKey command={draftCommands.accept} />}>
            {t("drafts.accept_some", { count: concerned.length })}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={concerned.length === 0}
            onClick={() => open("reject", concerned)}
            rightSection={<CommandKey command={draftCommands.reject} />}
          >
            {t("drafts.reject_some", { count: concerned.length })}
          </Button>
        </div>
      )}
      <Problem error={change.error} />
      <ul className={styles.drafts}>
        {page.items.map((draft) => (
          <Row key={draft.id} isCurrent={draft.id === current?.id} onCurrent={() => setCurrentId(draft.id)}>
            <DraftItem
              draft={draft}
              admin={admin}
              isChosen={chosen.has(draft.id)}
              onChoose={(on) => choose(draft.id, on)}
              onEdit={() => open("edit", [draft])}
              onReopen={() => change.mutate({ type: "reopen", drafts: [draft.id] })}
            />
          </Row>
        ))}
      </ul>
      {(after > 0 || page.after !== null) && (
        <div className={styles.bulk}>
          <Button variant="default" size="compact-sm" disabled={after === 0} onClick={() => onPage(0)}>
            {t("design.first")}
          </Button>
          <Button variant="default" size="compact-sm" disabled={page.after === null} onClick={() => onPage(page.after ?? 0)}>
            {t("design.more")}
          </Button>
        </div>
      )}
      {opened?.what === "accept" && (
        <AcceptDialog
          drafts={opened.drafts}
          pools={overview.pools}
          poolId={poolId}
          onPool={setPoolId}
          onClose={close}
          onDone={() => setChosen(new Set())}
        />
      )}
      {opened?.what === "reject" && <RejectDialog count={opened.drafts.length} onClose={close} onReject={(reason) => reject(opened.drafts, reason)} />}
      {opened?.what === "edit" && opened.drafts[0] && <EditDialog draft={opened.drafts[0]} overview={overview} onClose={close} />}
    </>
  );
}

/** Where keys lead to is seen and comes into view. */
function Row({ isCurrent, onCurrent, children }: { isCurrent: boolean; onCurrent: () => void; children: ReactNode }) {
  const row = useRef<HTMLLIElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isCurrent && !isFirst.current) row.current?.scrollIntoView({ block: "nearest" });
    isFirst.current = false;
  }, [isCurrent]);
  return (
    <li ref={row} className={styles.draft} data-current={isCurrent || undefined} aria-current={isCurrent || undefined} onFocus={onCurrent} onPointerDown={onCurrent}>
      {children}
    </li>
  );
}

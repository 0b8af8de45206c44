/** Who works where: people and groups are dragged onto pools, or put there from their menus by keys. */
import { ActionIcon, Button, Menu, TextInput } from "@mantine/core";
import { X } from "lucide-react";
import { useState, type DragEvent } from "react";

import type { Board as BoardData, PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useChange } from "./api";
import styles from "./pools.module.css";

type Card = { readonly kind: "people" | "groups"; readonly id: number; readonly name: string; readonly tags: readonly string[] };

/** More people than these are found by their names: each has a menu of every pool. */
const MAX_CARDS = 40;
const TYPE = "application/x-pilothouse-worker";

/** Everybody and every group that can be put into a pool. */
function cardsOf({ people, groups }: BoardData): Card[] {
  return [
    ...groups.map(({ id, name, size }): Card => ({ kind: "groups", id, name, tags: [String(size)] })),
    ...people.map(({ id, name, skills }): Card => ({ kind: "people", id, name, tags: skills })),
  ];
}

const isAssigned = (pool: PoolRow, { kind, id }: Card): boolean => (kind === "people" ? pool.members : pool.groups).includes(id);

export function AssignmentBoard({ board }: { readonly board: BoardData }) {
  const { t } = useI18n();
  const change = useChange();
  const [words, setWords] = useState("");
  const cards = cardsOf(board);
  const found = cards.filter(({ name, tags }) => [name, ...tags].join(" ").toLowerCase().includes(words.trim().toLowerCase()));
  const undoable = useUndoable();
  const assign = (pool: PoolRow, card: Card, works: boolean) => {
    const put = (into: boolean) =>
      change.mutateAsync({ type: "assign", pool: pool.id, kind: card.kind, id: card.id, works: into });
    const named = { name: card.name, pool: pool.settings.name };
    undoable({ act: () => put(works), done: t(works ? "pools.board.put_in" : "pools.board.taken_out", named), undo: () => put(!works) });
  };
  const drop = (pool: PoolRow, key: string) => {
    const card = cards.find((each) => keyOf(each) === key);
    if (card && !isAssigned(pool, card)) assign(pool, card, true);
  };
  return (
    <>
      <Problem error={change.error} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls takes the focus, so that keys can scroll it */}
      <div className={styles.board} role="group" aria-label={t("pools.board")} tabIndex={0}>
        <div className={styles.column}>
          <h3>{t("pools.board.people")}</h3>
          {cards.length > MAX_CARDS && (
            <TextInput
              type="search"
              size="xs"
              aria-label={t("pools.board.find")}
              placeholder={t("pools.board.find")}
              value={words}
              onChange={(event) => setWords(event.currentTarget.value)}
            />
          )}
          <ul className={styles.cards}>
            {found.slice(0, MAX_CARDS).map((card) => (
              <PersonCard key={keyOf(card)} card={card} pools={board.pools} onAssign={assign} />
            ))}
          </ul>
          {found.length > MAX_CARDS && (
            <p role="status" className={styles.note}>
              {t("pools.board.more", { count: found.length - MAX_CARDS })}
            </p>
          )}
        </div>
        {board.pools.map((pool) => (
          <PoolColumn key={pool.id} pool={pool} cards={cards.filter((card) => isAssigned(pool, card))} onDrop={drop} onAssign={assign} />
        ))}
      </div>
    </>
  );
}

const keyOf = ({ kind, id }: Card) => `${kind}:${id}`;

type OnAssign = (pool: PoolRow, card: Card, works: boolean) => void;
type PersonProps = { readonly card: Card; readonly pools: readonly PoolRow[]; readonly onAssign: OnAssign };

function PersonCard({ card, pools, onAssign }: PersonProps) {
  const { t } = useI18n();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- dragging is the second way; the menu is for keys
    <li
      className={styles.card}
      draggable
      onDragStart={(event) => {
        event.dataTransfer.setData(TYPE, keyOf(card));
        event.dataTransfer.effectAllowed = "link";
      }}
    >
      <span>
        {card.name} {card.kind === "groups" && <Badge tone="neutral">{t("pools.board.group", { count: Number(card.tags[0]) })}</Badge>}
      </span>
      <Menu closeOnItemClick={false} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button variant="default" size="compact-xs" aria-label={t("pools.board.assign_of", { name: card.name })}>
            {t("pools.board.assign")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={320} style={{ overflowY: "auto" }}>
          {pools.map((pool) => (
            <Menu.CheckboxItem key={pool.id} checked={isAssigned(pool, card)} onChange={(works) => onAssign(pool, card, works)}>
              {pool.settings.name}
            </Menu.CheckboxItem>
          ))}
        </Menu.Dropdown>
      </Menu>
    </li>
  );
}

type ColumnProps = {
  readonly pool: PoolRow;
  readonly cards: readonly Card[];
  readonly onDrop: (pool: PoolRow, key: string) => void;
  readonly onAssign: OnAssign;
};

function PoolColumn({ pool, cards, onDrop, onAssign }: ColumnProps) {
  const { t } = useI18n();
  const [over, setOver] = useState(false);
  const { name, skills, open_to_all } = pool.settings;
  const mine = (event: DragEvent) => event.dataTransfer.types.includes(TYPE);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a place to drop on; the menus are for keys
    <section
      className={over ? `${styles.column} ${styles.over}` : styles.column}
      aria-label={name}
      onDragOver={(event) => {
        if (!mine(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!mine(event)) return;
        event.preventDefault();
        onDrop(pool, event.dataTransfer.getData(TYPE));
      }}
    >
      <h3>{name}</h3>
      <ul className={styles.cards}>
        {open_to_all && <li className={styles.note}>{t("pools.board.everybody")}</li>}
        {skills.length > 0 && <li className={styles.note}>{t("pools.board.skilled", { skills: skills.join(", ") })}</li>}
        {cards.map((card) => (
          <li key={keyOf(card)} className={styles.card}>
            {card.name}
            <ActionIcon size="xs" variant="subtle" aria-label={t("pools.board.remove_of", { name: card.name, pool: name })} onClick={() => onAssign(pool, card, false)}>
              <X size={12} />
            </ActionIcon>
          </li>
        ))}
        {cards.length === 0 && !open_to_all && skills.length === 0 && <li className={styles.note}>{t("pools.board.nobody")}</li>}
      </ul>
    </section>
  );
}

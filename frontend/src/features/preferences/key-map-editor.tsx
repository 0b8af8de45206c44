/** Which keys mean which command: add, take away, reset; keys that mean two things at once are pointed out. */
import { ActionIcon, Button } from "@mantine/core";
import { Plus, RotateCcw, X } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { conflictsOf, keysOf, type Command, type Conflict, type KeyMap } from "@/shared/commands/command";
import { useAllCommands } from "@/shared/commands/commands";
import { combinationsOf } from "@/shared/commands/keys";
import { useI18n } from "@/shared/i18n/i18n";
import { KeyHint } from "@/shared/ui/key-hint";
import { Section } from "@/shared/ui/page";

import { added, assigned, isChanged, removed } from "./key-map";
import styles from "./preferences.module.css";

type Props = { keyMap: KeyMap; onChange: (keyMap: KeyMap) => void; onReset: (keyMap: KeyMap) => void };

export function KeyMapEditor({ keyMap, onChange, onReset }: Props) {
  const { t } = useI18n();
  const all = useAllCommands();
  const conflicts = conflictsOf(all, keyMap);
  const scopes = [...new Set(all.map(({ scope }) => scope))];
  return (
    <>
      {scopes.map((scope, index) => (
        <Section
          key={scope}
          title={`${t("preferences.keys")} · ${t(`scope.${scope}`)}`}
          aside={
            index === 0 && (
              <Button
                variant="default"
                size="compact-xs"
                disabled={Object.keys(keyMap).length === 0}
                onClick={() => onReset({})}
              >
                {t("preferences.reset_all")}
              </Button>
            )
          }
        >
          <ul className={styles.commands}>
            {all
              .filter((command) => command.scope === scope)
              .map((command) => (
                <KeysOfCommand
                  key={command.id}
                  command={command}
                  keyMap={keyMap}
                  conflicts={conflicts.filter(({ commands }) => commands.includes(command))}
                  onChange={onChange}
                  onReset={onReset}
                />
              ))}
          </ul>
        </Section>
      ))}
    </>
  );
}

type RowProps = Props & { command: Command; conflicts: readonly Conflict[] };

function KeysOfCommand({ command, keyMap, conflicts, onChange, onReset }: RowProps) {
  const { t } = useI18n();
  const name = t(command.name);
  return (
    <li className={styles.command}>
      <div className={styles.words}>
        <strong>{name}</strong>
        <span className={styles.help}>{t(command.help)}</span>
        {conflicts.map(({ combination, commands: [one, other] }) => (
          <span key={`${combination} ${one.id} ${other.id}`} className={styles.conflict} role="alert">
            {t("preferences.conflict", { key: combination, other: t((one === command ? other : one).name) })}
          </span>
        ))}
      </div>
      <div className={styles.keys}>
        {keysOf(command, keyMap).map((combination) => (
          <span key={combination} className={styles.key}>
            <KeyHint keys={combination} />
            <ActionIcon
              size="xs"
              aria-label={t("preferences.remove_key", { key: combination, name })}
              onClick={() => onChange(removed(keyMap, command, combination))}
            >
              <X size={11} />
            </ActionIcon>
          </span>
        ))}
        <KeyCapture name={name} onCapture={(combination) => onChange(added(keyMap, command, combination))} />
        <ActionIcon
          size="sm"
          aria-label={t("preferences.reset", { name })}
          disabled={!isChanged(keyMap, command)}
          onClick={() => onReset(assigned(keyMap, command, command.keys))}
        >
          <RotateCcw size={13} />
        </ActionIcon>
      </div>
    </li>
  );
}

/** A button that, once pressed, takes the next combination; Escape or leaving it changes nothing. */
function KeyCapture({ name, onCapture }: { name: string; onCapture: (combination: string) => void }) {
  const { t } = useI18n();
  const [waiting, setWaiting] = useState(false);

  const press = (event: KeyboardEvent) => {
    if (!waiting || event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    const [combination] = combinationsOf(event.nativeEvent);
    if (combination === undefined) return;
    setWaiting(false);
    if (combination !== "Escape") onCapture(combination);
  };

  return (
    <Button
      variant={waiting ? "filled" : "subtle"}
      color={waiting ? "indigo" : "gray"}
      size="compact-xs"
      aria-label={t("preferences.add_key", { name })}
      onClick={() => setWaiting(!waiting)}
      onBlur={() => setWaiting(false)}
      onKeyDown={press}
    >
      {waiting ? t("preferences.press_key") : <Plus size={13} />}
    </Button>
  );
}

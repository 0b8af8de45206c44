/** Every command with its keys, searchable; opened with `?`. */
import { TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useState } from "react";

import { keysOf, type Command, type Scope } from "@/shared/commands/command";
import { useAllCommands, useKeyMap } from "@/shared/commands/commands";
import { labelsOf } from "@/shared/commands/keys";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { KeyHint } from "@/shared/ui/key-hint";

import styles from "./help-overlay.module.css";

export function HelpOverlay({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={opened} onClose={onClose} title={t("global.help")} size={860}>
      <Help />
    </Dialog>
  );
}

function Help() {
  const { t } = useI18n();
  const keyMap = useKeyMap();
  const all = useAllCommands();
  const [query, setQuery] = useState("");
  const found = all.filter((command) => matches(command, query, t));
  const scopes = [...new Set(found.map(({ scope }) => scope))];
  return (
    <>
      <TextInput
        data-autofocus
        aria-label={t("commands.search")}
        placeholder={t("commands.search")}
        leftSection={<Search size={14} />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      <div className={styles.groups} aria-live="polite">
        {scopes.length === 0 && <p>{t("commands.palette.empty")}</p>}
        {scopes.map((scope) => (
          <HelpGroup key={scope} scope={scope} commands={found.filter((command) => command.scope === scope)} keyMap={keyMap} />
        ))}
      </div>
    </>
  );
}

type GroupProps = { scope: Scope; commands: Command[]; keyMap: Parameters<typeof keysOf>[1] };

function HelpGroup({ scope, commands, keyMap }: GroupProps) {
  const { t } = useI18n();
  return (
    <section className={styles.group}>
      <h3 className={styles.scope}>{t(`scope.${scope}`)}</h3>
      <dl className={styles.list}>
        {commands.map((command) => (
          <div key={command.id} className={styles.row}>
            <dt>
              {t(command.name)}
              <span className={styles.help}>{t(command.help)}</span>
            </dt>
            <dd>
              {keysOf(command, keyMap).map((keys) => (
                <KeyHint key={keys} keys={keys} />
              ))}
              {keysOf(command, keyMap).length === 0 && <span className={styles.help}>{t("commands.unassigned")}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** By name, by help or by the key itself. */
function matches(command: Command, query: string, t: Translate): boolean {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return true;
  if (command.keys.some((keys) => labelsOf(keys).join("+").toLowerCase() === wanted)) return true;
  return `${t(command.name)} ${t(command.help)}`.toLowerCase().includes(wanted);
}

/** The command palette: every live command by name, run with Enter. */
import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { useState } from "react";

import { useLiveBindings } from "@/shared/commands/commands";
import { globalCommands } from "@/shared/commands/global";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

const [store, spotlight] = createSpotlight();

export const openPalette = () => spotlight.open();

export function Palette() {
  const { t } = useI18n();
  const liveBindings = useLiveBindings();
  const [actions, setActions] = useState<SpotlightActionData[]>([]);

  const list = () =>
    liveBindings()
      .filter(({ command, enabled }) => enabled !== false && command !== globalCommands.palette)
      .map(
        ({ command, run }): SpotlightActionData => ({
          id: command.id,
          label: t(command.name),
          description: t(command.help),
          rightSection: <CommandKey command={command} />,
          onClick: run,
        }),
      );

  return (
    <Spotlight
      store={store}
      attributes={{ content: { "aria-label": t("global.palette") } }}
      actions={actions}
      onSpotlightOpen={() => setActions(list())}
      shortcut={null}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound={t("commands.palette.empty")}
      searchProps={{ placeholder: t("commands.search"), "aria-label": t("commands.search") }}
    />
  );
}

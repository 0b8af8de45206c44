/** Every command of every screen: what the help, the palette and the key map editor know. */
import { workspaceCommands } from "@/features/annotate/commands";
import { draftCommands } from "@/features/design/drafts/commands";
import { queueCommands } from "@/features/queue/commands";
import { replayCommands } from "@/features/replay/commands";
import { compareCommands, reviewCommands, verdictCommands } from "@/features/review/commands";
import { speechCommands } from "@/features/speech/commands";
import { comparisonCommands } from "@/shared/comparison/commands";
import type { Command } from "@/shared/commands/command";
import { globalCommands } from "@/shared/commands/global";

export const ALL_COMMANDS: readonly Command[] = [
  ...Object.values(globalCommands),
  ...Object.values(queueCommands),
  ...workspaceCommands,
  ...Object.values(replayCommands),
  ...Object.values(verdictCommands),
  ...Object.values(reviewCommands),
  ...Object.values(speechCommands),
  ...Object.values(comparisonCommands),
  ...Object.values(compareCommands),
  ...Object.values(draftCommands),
];

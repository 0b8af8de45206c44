/** Changing a key map; pure. A command whose keys are its defaults is not stored. */
import { keysOf, type Command, type KeyMap } from "@/shared/commands/command";

/** Give a command these combinations. */
export function assigned(keyMap: KeyMap, command: Command, keys: readonly string[]): KeyMap {
  const { [command.id]: _, ...others } = keyMap;
  const isDefault = keys.length === command.keys.length && keys.every((key, index) => key === command.keys[index]);
  return isDefault ? others : { ...others, [command.id]: keys };
}

export const added = (keyMap: KeyMap, command: Command, combination: string): KeyMap =>
  assigned(keyMap, command, [...new Set([...keysOf(command, keyMap), combination])]);

export const removed = (keyMap: KeyMap, command: Command, combination: string): KeyMap =>
  assigned(
    keyMap,
    command,
    keysOf(command, keyMap).filter((key) => key !== combination),
  );

export const isChanged = (keyMap: KeyMap, command: Command): boolean => command.id in keyMap;

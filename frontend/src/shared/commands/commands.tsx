/** Commands on the page: one key listener, the live bindings, and the person's key map. */
import { createContext, useContext, useEffect, useLayoutEffect, useMemo, useRef, type ReactNode } from "react";

import { keysOf, type Binding, type Command, type KeyMap } from "@/shared/commands/command";
import { isClaimed, isInDialog, isTyping, Registry, type Layer } from "@/shared/commands/registry";

type Commands = { readonly registry: Registry; readonly keyMap: KeyMap; readonly all: readonly Command[] };

const CommandsContext = createContext<Commands>({ registry: new Registry(), keyMap: {}, all: [] });

/** `all` are the commands of every screen, open or not: the help and the key map editor list them. */
export function CommandsProvider({
  all,
  keyMap,
  children,
}: {
  all: readonly Command[];
  keyMap: KeyMap;
  children: ReactNode;
}) {
  const registry = useMemo(() => new Registry(), []);
  const value = useMemo(() => ({ registry, keyMap, all }), [registry, keyMap, all]);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // While an input method composes, the keyboard is its own; its first key says "Process" and stands for no combination.
      if (event.defaultPrevented || event.isComposing || isClaimed(event)) return;
      const binding = registry.find(event, keyMap, isTyping(event.target), isInDialog(event.target));
      if (!binding || (event.repeat && !binding.command.repeats)) return;
      event.preventDefault();
      binding.run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [registry, keyMap]);

  return <CommandsContext value={value}>{children}</CommandsContext>;
}

/** Make commands live while the calling component is mounted; the latest mounted wins where keys are the same. */
export function useCommands(bindings: readonly Binding[]): void {
  const { registry } = useContext(CommandsContext);
  const layer = useRef<Layer>({ bindings });
  useLayoutEffect(() => {
    layer.current.bindings = bindings;
  });
  useEffect(() => registry.add(layer.current), [registry]);
}

/** The combinations a command has for this person, the one to show first. */
export function useKeys(command: Command): readonly string[] {
  return keysOf(command, useContext(CommandsContext).keyMap);
}

export const useAllCommands = () => useContext(CommandsContext).all;
export const useKeyMap = () => useContext(CommandsContext).keyMap;

/** The live bindings at this moment; read it in a handler, not while rendering. */
export function useLiveBindings(): () => Binding[] {
  const { registry } = useContext(CommandsContext);
  return () => registry.live();
}

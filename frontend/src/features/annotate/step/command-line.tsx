/** The one-line editor of calls, with completion; Enter does it. */
import { acceptCompletion, autocompletion, closeBrackets, completionStatus, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { useEffect, useImperativeHandle, useRef } from "react";

import type { CommandCompletion, ScreenTexts } from "@/generated/api";
import type { EpisodeState, Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { hasScreen } from "@/features/annotate/panels/panels";
import { emptyArguments } from "@/features/annotate/panels/tools/schema";
import { useApps } from "@/features/annotate/phone/apps";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { insertPoint } from "./call";
import { pathsNamed, suggestionsAt, type CompletionContext, type Suggestions } from "./completion";
import { screenTexts } from "./screen-texts";
import { commandAt, completeCommand, shellSuggestions, type CommandPlace } from "./shell-completion";
import { useMachineTexts } from "./use-machine-texts";
import styles from "./step.module.css";

/** What the editor calls; always the latest, though the editor itself is made once. */
interface Handlers {
  readonly change: (text: string) => void;
  readonly submit: () => void;
  readonly leave: () => void;
  readonly context: () => CompletionContext;
  readonly askShell: (place: CommandPlace) => Promise<CommandCompletion | null>;
}

export function CommandLineEditor() {
  const { t } = useI18n();
  const { draft, setDraft, submitStep: doIt, commandLineRef, viewportRef, episode, steps, drafts, canAct } = useWorkspace();
  const apps = useApps(episode);
  const machineTexts = useMachineTexts(episode, draft.command);
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const handlers = useRef<Handlers | null>(null);
  useEffect(() => {
    handlers.current = {
      change: (command) => setDraft({ ...draft, command }),
      submit: doIt,
      leave: () => viewportRef.current?.focus({ preventScroll: true }),
      context: () => ({
        capabilities: episode.capabilities,
        recentTexts: drafts.recentTexts(),
        apps,
        tools: episode.tools.map(({ name }) => name),
        pages: (episode.observation?.page?.tabs ?? []).map(({ id }) => id),
        files: (episode.observation?.page?.chooser?.files ?? []).map(({ name }) => name),
        ...contextOf(episode, steps, machineTexts),
      }),
      askShell: ({ line, session }) => completeCommand(episode.id, line, session),
    };
  });

  const label = t("step.command");
  const hint = t(hasScreen(episode) ? "step.command.placeholder" : "step.command.placeholder.panels");
  useEffect(() => {
    if (host.current === null) return;
    const editor = new EditorView({ parent: host.current, state: stateFor(handlers, label, hint) });
    view.current = editor;
    return () => editor.destroy();
  }, [label, hint]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === draft.command) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: draft.command },
      selection: { anchor: draft.command.length },
    });
  }, [draft.command, label, hint]);

  useEffect(() => {
    view.current?.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(!canAct)) });
  }, [canAct, label, hint]);

  useImperativeHandle(commandLineRef, () => ({
    focus: () => {
      const editor = view.current;
      editor?.dispatch({ selection: { anchor: 0, head: editor.state.doc.length } });
      editor?.focus();
    },
    takePoint: (pixel) => {
      const editor = view.current;
      if (editor?.hasFocus !== true) return false;
      const written = insertPoint(editor.state.doc.toString(), editor.state.selection.main.head, pixel);
      if (written === null) return false;
      editor.dispatch({
        changes: { from: 0, to: editor.state.doc.length, insert: written.text },
        selection: { anchor: Math.min(written.caret, written.text.length) },
      });
      return true;
    },
  }), []);

  return <div ref={host} className={styles.line} data-testid="command-line" />;
}

/** What the machine and its task name. */
function contextOf(episode: EpisodeState, steps: readonly Step[], machine: ScreenTexts): Pick<CompletionContext, "paths" | "phrases" | "words" | "toolArguments"> {
  const { phrases, words, paths } = screenTexts(episode, machine);
  const toolArguments = Object.fromEntries(episode.tools.map((tool) => [tool.name, JSON.stringify(emptyArguments(tool) ?? {})]));
  return { phrases, words, toolArguments, paths: [...new Set([...pathsNamed(steps), ...paths])] };
}

const readOnly = new Compartment();

function stateFor(handlers: { readonly current: Handlers | null }, label: string, hint: string): EditorState {
  const submit = () => {
    handlers.current?.submit();
    return true;
  };
  const leave = () => {
    handlers.current?.leave();
    return true;
  };
  return EditorState.create({
    doc: "",
    extensions: [
      history(),
      closeBrackets(),
      placeholder(hint),
      readOnly.of(EditorState.readOnly.of(false)),
      EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change)),
      EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) handlers.current?.change(state.doc.toString());
      }),
      autocompletion({
        icons: false,
        interactionDelay: 0,
        override: [
          ({ state, pos, explicit }) => {
            const now = handlers.current;
            const text = state.doc.toString();
            if (now === null || (text === "" && !explicit)) return null;
            const found = suggestionsAt(text, pos, now.context());
            const place = explicit ? commandAt(text, pos) : null;
            if (place === null) return found && completionsOf(found);
            return now.askShell(place).then((answer) => {
              if (answer === null) return found && completionsOf(found);
              const offered = shellSuggestions(place, answer);
              const known = new Set(offered.map(({ insert }) => insert));
              const others = found?.options.filter(({ insert }) => !known.has(insert)) ?? [];
              return completionsOf({ from: place.from, to: place.to, options: [...offered, ...others] });
            });
          },
        ],
      }),
      Prec.highest(
        keymap.of([
          { key: "Tab", run: (editor) => acceptCompletion(editor) || completionStatus(editor.state) !== null || startCompletion(editor) },
          { key: "Enter", run: submit },
        ]),
      ),
      keymap.of([{ key: "Escape", run: leave }, ...historyKeymap, ...defaultKeymap]),
    ],
  });
}

function completionsOf({ from, to, options }: Suggestions) {
  return { from, to, filter: false, options: options.map(completionOf) };
}

function completionOf({ label, insert, caret, detail }: { label: string; insert: string; caret: number; detail: string }) {
  return {
    label,
    detail,
    apply: (editor: EditorView, _completion: unknown, from: number, to: number) => {
      editor.dispatch({ changes: { from, to, insert }, selection: { anchor: from + caret }, userEvent: "input.complete" });
    },
  };
}

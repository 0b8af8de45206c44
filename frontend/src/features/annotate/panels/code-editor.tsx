/** Several lines of code or text: the cell of the notebook and the file that is open. */
import { closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useImperativeHandle, useRef, type Ref } from "react";

import { languageOf } from "./languages";
import styles from "./panels.module.css";

interface Props {
  readonly ref?: Ref<{ focus(): void } | null>;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Name of the file, by which its language is known. */
  readonly name: string;
  readonly label: string;
  readonly readOnly?: boolean;
  /** What Mod+S (a file) or Shift+Enter (a cell) does. */
  readonly keys: Readonly<Record<string, () => void>>;
  readonly onLeave: () => void;
}

export function CodeEditor({ ref, value, onChange, name, label, readOnly = false, keys, onLeave }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ value, onChange, keys, onLeave });
  useEffect(() => {
    latest.current = { value, onChange, keys, onLeave };
  });
  useImperativeHandle(ref, () => ({ focus: () => view.current?.focus() }));

  const bound = Object.keys(keys).join(" ");
  useEffect(() => {
    if (host.current === null) return;
    const run = (key: string) => () => {
      latest.current.keys[key]?.();
      return true;
    };
    const leave = () => {
      latest.current.onLeave();
      return true;
    };
    const own = bound.split(" ").map((key) => ({ key, run: run(key), preventDefault: true }));
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc: latest.current.value, extensions: [keymap.of([...own, { key: "Escape", run: leave }]), ...basics(label, (text) => latest.current.onChange(text))] }),
    });
    view.current = editor;
    let here = true;
    void languageOf(name).then((extension) => {
      if (here) editor.dispatch({ effects: language.reconfigure(extension) });
    });
    return () => {
      here = false;
      view.current = null;
      editor.destroy();
    };
  }, [name, label, bound]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value, name, label, bound]);

  useEffect(() => {
    view.current?.dispatch({ effects: writing.reconfigure(EditorState.readOnly.of(readOnly)) });
  }, [readOnly, name, label, bound]);

  return <div ref={host} className={styles.editor} />;
}

const language = new Compartment();
const writing = new Compartment();

function basics(label: string, changed: (text: string) => void): Extension[] {
  return [
    lineNumbers(),
    history(),
    indentOnInput(),
    indentUnit.of("    "),
    bracketMatching(),
    closeBrackets(),
    syntaxHighlighting(classHighlighter),
    language.of([]),
    writing.of([]),
    EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) changed(state.doc.toString());
    }),
    keymap.of([indentWithTab, ...historyKeymap, ...defaultKeymap]),
  ];
}

/** Python in colours, as text that only stands there. Loaded when there is code to show. */
import { pythonLanguage } from "@codemirror/lang-python";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { useMemo, type ReactNode } from "react";

export default function HighlightedCode({ text }: { text: string }) {
  return useMemo(() => highlight(text), [text]);
}

function highlight(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  const emit = (code: string, classes: string) =>
    parts.push(classes === "" ? code : <span key={parts.length} className={classes}>{code}</span>);
  highlightCode(text, pythonLanguage.parser.parse(text), classHighlighter, emit, () => parts.push("\n"));
  return parts;
}

/** Markdown that people wrote, shown safely: no HTML of theirs, no pictures fetched from elsewhere, links in a page of their own. */
import MarkdownToJsx from "markdown-to-jsx";
import type { ReactNode } from "react";

import styles from "./markdown.module.css";

function Anchor({ href, children }: { href?: string; children?: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const Picture = ({ alt }: { alt?: string }) => <>{alt}</>;

const OPTIONS = {
  disableParsingRawHTML: true,
  forceBlock: true,
  overrides: { a: Anchor, img: Picture, iframe: () => null, h1: { component: "h3" }, h2: { component: "h4" }, h3: { component: "h5" } },
} as const;

export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className={styles.prose}>
      <MarkdownToJsx options={OPTIONS}>{text}</MarkdownToJsx>
    </div>
  );
}

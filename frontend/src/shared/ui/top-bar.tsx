/** The bar on top of every page; a page puts its path and its live status into it from wherever it is. */
import { createContext, useContext, useMemo, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Link } from "react-router";

import styles from "./top-bar.module.css";

type Slots = { path: HTMLElement | null; status: HTMLElement | null };
type Value = Slots & { setPath: (element: HTMLElement | null) => void; setStatus: (element: HTMLElement | null) => void };

const SlotsContext = createContext<Value | null>(null);

export function TopBarProvider({ children }: { children: ReactNode }) {
  const [path, setPath] = useState<HTMLElement | null>(null);
  const [status, setStatus] = useState<HTMLElement | null>(null);
  const value = useMemo(() => ({ path, status, setPath, setStatus }), [path, status]);
  return <SlotsContext value={value}>{children}</SlotsContext>;
}

/** Where the page's path goes; drawn once, by the layout. */
export function PathSlot() {
  return <span className={styles.path} ref={useContext(SlotsContext)?.setPath} />;
}

/** Where the page's status goes; drawn once, by the layout. */
export function StatusSlot() {
  return <span className={styles.status} ref={useContext(SlotsContext)?.setStatus} />;
}

type Crumb = { label: string; to?: string };

/** The page's place: parents that lead back, and the page itself, which also names the browser tab. */
export function PagePath({ crumbs }: { crumbs: readonly Crumb[] }) {
  const slots = useContext(SlotsContext);
  const title = crumbs.at(-1)?.label;
  return (
    <>
      <title>{title ? `${title} · Pilothouse` : "Pilothouse"}</title>
      {slots?.path &&
        createPortal(
          crumbs.map(({ label, to }) => (
            <span key={label} className={styles.crumb}>
              {to ? (
                <Link to={to}>{label}</Link>
              ) : (
                <h1 className={styles.here} aria-current="page" title={label}>
                  {label}
                </h1>
              )}
            </span>
          )),
          slots.path,
        )}
    </>
  );
}

/** What the page says about its live state: step, connection, policy. */
export function BarStatus({ children }: { children: ReactNode }) {
  const slots = useContext(SlotsContext);
  return slots?.status ? createPortal(children, slots.status) : null;
}

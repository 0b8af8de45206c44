/** Lets only somebody signed in through, and asks again over the page when the sign-in ends. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { refreshSession, sessionQuery } from "@/shared/account/account";
import { setSignInGate } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { ErrorState, Loading } from "@/shared/ui/states";

import { Reauthentication } from "./reauthentication";
import { SignInForm } from "./sign-in-form";
import { SignInPage } from "./sign-in-page";
import styles from "./sign-in.module.css";

export function SessionGate({ children }: { children: ReactNode }) {
  const session = useQuery(sessionQuery);
  if (session.isPending) return <Loading />;
  if (session.isError) return <ErrorState error={session.error} onRetry={() => void session.refetch()} />;
  if (!session.data.user) return <SignInPage />;
  return (
    <>
      {children}
      <SignInAgain username={session.data.user.username} />
      <Reauthentication />
      <Activity />
    </>
  );
}

const ACTIVITY_MS = 5 * 60_000;

/** Tells the server, now and then, that somebody uses the page, so that a sign-in ends by being idle and not by being read. */
function Activity() {
  useEffect(() => {
    let reported = Date.now(); // loading the page has reported it
    const note = () => {
      if (Date.now() - reported < ACTIVITY_MS) return;
      reported = Date.now();
      refreshSession().catch(() => undefined); // the next call that matters tells what is wrong
    };
    const kinds = ["pointerdown", "keydown"] as const;
    for (const kind of kinds) window.addEventListener(kind, note, { capture: true, passive: true });
    return () => {
      for (const kind of kinds) window.removeEventListener(kind, note, { capture: true });
    };
  }, []);
  return null;
}

/** The page below stays as it is; calls that were refused go on when the same person has signed in. */
function SignInAgain({ username }: { username: string }) {
  const { t } = useI18n();
  const [opened, setOpened] = useState(false);
  const waiting = useRef<(() => void)[]>([]);

  useEffect(() => {
    setSignInGate(() => {
      setOpened(true);
      return new Promise((resolve) => waiting.current.push(resolve));
    });
    return () => setSignInGate(null);
  }, []);

  const done = (signedIn: string) => {
    if (signedIn !== username) { window.location.assign("/"); return; } // Somebody else: this page is not theirs.
    setOpened(false);
    for (const resolve of waiting.current.splice(0)) resolve();
  };

  return (
    <Dialog
      opened={opened}
      onClose={() => undefined}
      withCloseButton={false}
      title={t("session.expired")}
      size="sm"
      zIndex={1000}
    >
      <p className={styles.tagline}>{t("session.expired.help")}</p>
      <SignInForm username={username} onDone={done} />
    </Dialog>
  );
}

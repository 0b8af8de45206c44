/** The first page for somebody not signed in. */
import { LogoMark } from "@/shared/ui/logo";
import { useI18n } from "@/shared/i18n/i18n";

import { ForgottenPassword } from "./forgotten-password";
import { SignInForm } from "./sign-in-form";
import styles from "./sign-in.module.css";

export function SignInPage() {
  const { t } = useI18n();
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <LogoMark size={32} />
        <h1 className={styles.title}>Pilothouse</h1>
        <p className={styles.tagline}>{t("session.tagline")}</p>
        <SignInForm />
        <ForgottenPassword />
      </div>
    </main>
  );
}

/** How a browser's page stands: score, level, and how it ended. */
import type { BrowserPage } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";

import { Badge } from "@/shared/ui/badge";

export function PageStatus({ page: { score, level, done, truncated, success, verifier_error } }: { page: BrowserPage }) {
  const { t } = useI18n();
  return (
    <>
      {score !== null && <Badge tone="neutral">{t("browser.score", { score: Math.round(score * 100) / 100 })}</Badge>}
      {level !== null && <Badge tone="neutral">{t("browser.level", { level })}</Badge>}
      {truncated && <Badge tone="warn">{t("browser.truncated")}</Badge>}
      {verifier_error !== null && <Badge tone="danger">{t("browser.verifier_error")}</Badge>}
      {done && <Badge tone={success === true ? "ok" : success === false ? "danger" : "warn"}>{t(endMessage(success))}</Badge>}
    </>
  );
}

function endMessage(success: boolean | null) {
  if (success === null) return "browser.done";
  return success ? "browser.done.success" : "browser.done.failure";
}

/** An address that shows nothing. */
import { Link } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty } from "@/shared/ui/states";

export function NotFound() {
  const { t } = useI18n();
  return <Empty title={t("error.not_found")} action={<Link to="/queue">{t("global.queue")}</Link>} />;
}

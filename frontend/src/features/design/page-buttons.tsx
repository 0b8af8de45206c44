/** Back to the first rows of a list, and on to the following ones. */
import { Button } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./design.module.css";

type Props = {
  /** Behind which row the shown ones begin; 0: the first. */
  readonly after: number;
  readonly next: number | null;
  readonly onPage: (after: number) => void;
};

export function PageButtons({ after, next, onPage }: Props) {
  const { t } = useI18n();
  if (after === 0 && next === null) return null;
  return (
    <div className={styles.pages}>
      <Button variant="default" size="compact-sm" disabled={after === 0} onClick={() => onPage(0)}>
        {t("design.first")}
      </Button>
      <Button variant="default" size="compact-sm" disabled={next === null} onClick={() => onPage(next ?? 0)}>
        {t("design.more")}
      </Button>
    </div>
  );
}

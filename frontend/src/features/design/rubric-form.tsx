/** How hard a task is: what is counted of it, and the level that follows. */
import { Button, NumberInput } from "@mantine/core";
import { useId, useState } from "react";

import type { PlacedTask, RubricScale } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";
import { levelOf, pointsOf, RUBRIC_FIELDS } from "./difficulty";

export function RubricForm({ task, scale }: { task: PlacedTask; scale: RubricScale }) {
  const { t } = useI18n();
  const help = useId();
  const change = useChange();
  const [rubric, setRubric] = useState(() => ({ steps: 1, pages: 0, prerequisites: 0, exceptions: 0, ...task.rubric }));
  const points = pointsOf(rubric, scale);
  return (
    <form
      className={styles.stack}
      aria-describedby={help}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "place", tasks: [task.id], node: null, rubric });
      }}
    >
      <div className={styles.fields}>
        {RUBRIC_FIELDS.map((name) => (
          <NumberInput
            key={name}
            label={t(`design.rubric.${name}`)}
            description={t(`design.rubric.${name}.help`)}
            w={124}
            min={0}
            max={1_000}
            allowDecimal={false}
            value={rubric[name]}
            onChange={(value) => setRubric({ ...rubric, [name]: Number(value) })}
          />
        ))}
        <Button type="submit" variant="default" loading={change.isPending}>
          {t("design.rubric.save")}
        </Button>
      </div>
      <p id={help} className={styles.note}>
        <strong aria-live="polite">{t("design.rubric.result", { points, level: levelOf(points, scale) })}</strong>{" "}
        {t("design.rubric.scale", { steps: scale.steps_of.join(", "), most: scale.max_points, ends: scale.level_of.join(", ") })}
      </p>
      <Problem error={change.error} />
    </form>
  );
}

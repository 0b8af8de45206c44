/** How hard a task is: what is counted of it, and the level that follows once it is saved. */
import { Button, NumberInput } from "@mantine/core";
import { useState } from "react";

import type { PlacedTask, Rubric } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./design.module.css";

const RUBRIC_FIELDS = ["steps", "pages", "prerequisites", "exceptions"] as const satisfies readonly (keyof Rubric)[];

export function RubricForm({ task }: { task: PlacedTask }) {
  const { t } = useI18n();
  const change = useChange();
  const [rubric, setRubric] = useState<Rubric>(task.rubric);
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "place", tasks: [task.id], node: null, rubric });
      }}
    >
      {RUBRIC_FIELDS.map((name) => (
        <NumberInput
          key={name}
          label={t(`design.rubric.${name}`)}
          description={t(`design.rubric.${name}.help`)}
          w={124}
          min={0}
          max={1_000}
          allowDecimal={false}
          value={rubric[name] ?? 0}
          onChange={(value) => setRubric({ ...rubric, [name]: Number(value) })}
        />
      ))}
      <Button type="submit" variant="default" loading={change.isPending}>
        {t("design.rubric.save")}
      </Button>
      <Problem error={change.error} />
    </form>
  );
}

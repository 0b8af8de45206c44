/** Tasks of a suite by what they look like at their start; a click chooses one, another click leaves it. */
import { useQuery } from "@tanstack/react-query";

import type { TaskPictures } from "@/generated/api";
import { picturesQuery, type SuiteForm } from "@/shared/api/task-pictures";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./task-gallery.module.css";

type Props = {
  readonly form: SuiteForm;
  /** Names; none: all are wanted. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
};

export function TaskGallery({ form, chosen, onChange }: Props) {
  const { t } = useI18n();
  const { data } = useQuery(picturesQuery(form));
  if (!data) return null;
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <div role="group" aria-label={t("suite.pictures")} aria-busy={data.pending} className={styles.gallery}>
      {data.tasks.map((task) => (
        <TaskCard key={task.name} task={task} pending={data.pending} chosen={chosen.includes(task.name)} onToggle={() => toggle(task.name)} />
      ))}
    </div>
  );
}

type CardProps = { readonly task: TaskPictures["tasks"][number]; readonly pending: boolean; readonly chosen: boolean; readonly onToggle: () => void };

function TaskCard({ task: { name, picture }, pending, chosen, onToggle }: CardProps) {
  const { t } = useI18n();
  return (
    <button type="button" className={styles.card} aria-pressed={chosen} onClick={onToggle}>
      {picture === "" ? <span className={styles.missing}>{t(pending ? "suite.pictures.pending" : "suite.pictures.none")}</span> : <img src={picture} alt="" />}
      <span className={styles.name}>{name}</span>
    </button>
  );
}

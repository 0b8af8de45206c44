/** What an admin sets of a person, and erasing them at their request. */
import { Button, Checkbox, MultiSelect, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PersonIn, PersonOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { groupsQuery, ROLES, useChangePerson, useEndSignIns, useEndTokens, useErase, useMakePasswordLink, useRemoveFactor } from "./api";
import { OneTimeLink } from "./one-time-link";
import styles from "./people.module.css";

export function PersonDialog({ person, onClose }: { person: PersonOut | null; onClose: () => void }) {
  const { t } = useI18n();
  const [erasing, setErasing] = useState(false);
  const name = person?.name ?? "";
  return (
    <Dialog
      opened={person !== null}
      onClose={onClose}
      title={erasing ? t("people.erase.title", { name }) : t("people.change_one", { name })}
    >
      {person && !erasing && <Settings person={person} onDone={onClose} onErase={() => setErasing(true)} />}
      {person && erasing && <Erase person={person} onDone={onClose} />}
    </Dialog>
  );
}

type SettingsProps = { person: PersonOut; onDone: () => void; onErase: () => void };

function Settings({ person, onDone, onErase }: SettingsProps) {
  const { t } = useI18n();
  const groups = useQuery(groupsQuery).data ?? [];
  const [roles, setRoles] = useState<string[]>([...person.roles]);
  const [skills, setSkills] = useState(person.skills.join(", "));
  const [teams, setTeams] = useState(person.groups.map(String));
  const [active, setActive] = useState(person.active);
  const [name, setName] = useState(person.name);
  const [email, setEmail] = useState(person.email);
  const change = useChangePerson();
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        const tags = skills.split(",").map((tag) => tag.trim()).filter(Boolean);
        const given = { name, email, roles: roles as NonNullable<PersonIn["roles"]>, skills: tags, groups: teams.map(Number), active };
        change.mutate({ id: person.id, ...given }, { onSuccess: onDone });
      }}
    >
      <TextInput label={t("people.name")} required withAsterisk={false} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <TextInput
        type="email"
        label={t("people.email")}
        description={t("people.email.help")}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <MultiSelect
        label={t("people.roles")}
        data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
        value={roles}
        onChange={setRoles}
      />
      <TextInput
        label={t("people.skills")}
        description={t("people.skills.help")}
        value={skills}
        onChange={(event) => setSkills(event.currentTarget.value)}
      />
      <MultiSelect
        label={t("people.groups")}
        data={groups.map((group) => ({ value: String(group.id), label: group.name }))}
        value={teams}
        onChange={setTeams}
      />
      <Switch label={t("people.active")} checked={active} onChange={(event) => setActive(event.currentTarget.checked)} />
      <p className={styles.note}>{t("people.pseudonym", { name: person.pseudonym })}</p>
      <SignInHelp person={person} />
      <Problem error={change.error} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onErase}>
          {t("people.erase")}
        </Button>
        <Button type="submit" loading={change.isPending}>
          {t("people.save")}
        </Button>
      </div>
    </form>
  );
}

/** For who cannot sign in, or should not be signed in where they are. */
function SignInHelp({ person }: { person: PersonOut }) {
  const { t } = useI18n();
  const [link, factor, end, tokens] = [useMakePasswordLink(), useRemoveFactor(), useEndSignIns(), useEndTokens()];
  return (
    <>
      <div className={styles.help}>
        <Button variant="default" disabled={!person.active} loading={link.isPending} onClick={() => link.mutate(person.id)}>
          {t("people.password_link")}
        </Button>
        <ConfirmButton
          size="xs"
          label={t("people.sign_out")}
          confirmation={t("people.sign_out.ask", { name: person.name })}
          onConfirm={() => end.mutateAsync(person.id)}
        />
        <ConfirmButton
          size="xs"
          label={t("people.tokens_end")}
          confirmation={t("people.tokens_end.ask", { name: person.name })}
          onConfirm={() => tokens.mutateAsync(person.id)}
        />
        {person.two_factor && (
          <ConfirmButton
            size="xs"
            label={t("people.factor_remove")}
            confirmation={t("people.factor_remove.ask", { name: person.name })}
            onConfirm={() => factor.mutateAsync(person.id)}
          />
        )}
      </div>
      <Problem error={link.error} />
      {link.data && (
        <OneTimeLink
          label={t("people.password_link.label", { name: person.name })}
          link={link.data.link}
          note={link.data.sent ? t("invite.sent", { email: person.email }) : t("invite.not_sent")}
        />
      )}
    </>
  );
}

function Erase({ person, onDone }: { person: PersonOut; onDone: () => void }) {
  const { t } = useI18n();
  const [username, setUsername] = useState("");
  const [remove, setRemove] = useState(true);
  const erase = useErase();
  return (
    <form
      className={styles.fields}
      onSubmit={(event) => {
        event.preventDefault();
        erase.mutate({ id: person.id, username, remove_work: remove }, { onSuccess: onDone });
      }}
    >
      <p className={styles.note}>{t("people.erase.help")}</p>
      <Checkbox label={t("people.erase.work")} checked={remove} onChange={(event) => setRemove(event.currentTarget.checked)} />
      <TextInput
        label={t("people.erase.again", { name: person.username })}
        data-autofocus
        autoComplete="off"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Problem error={erase.error} />
      <div className={styles.buttons}>
        <Button type="submit" color="red" disabled={username !== person.username} loading={erase.isPending}>
          {t("people.erase.do")}
        </Button>
      </div>
    </form>
  );
}

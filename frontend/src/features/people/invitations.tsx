/** Inviting somebody by a link that works once, and the invitations nobody has taken up. */
import { Button, MultiSelect, NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { InvitationIn, InvitationOut } from "@/generated/api";
import type { Role } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";

import { groupsQuery, invitationsQuery, ROLES, useInvite, useWithdraw } from "./api";
import { OneTimeLink } from "./one-time-link";
import styles from "./people.module.css";

const DEFAULT_DAYS = 7;

export function Invitations() {
  const { t } = useI18n();
  const groups = useQuery(groupsQuery).data ?? [];
  const open = useQuery(invitationsQuery).data ?? [];
  const [email, setEmail] = useState("");
  const [roles, setRoles] = useState<string[]>(["annotator"]);
  const [teams, setTeams] = useState<string[]>([]);
  const [days, setDays] = useState<number | string>(DEFAULT_DAYS);
  const invite = useInvite();
  return (
    <>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          const named = roles as unknown as InvitationIn["roles"];
          invite.mutate({ email, roles: named, groups: teams.map(Number), days: Number(days) });
        }}
      >
        <TextInput
          type="email"
          label={t("invite.email")}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <MultiSelect
          label={t("people.roles")}
          data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
          value={roles}
          onChange={setRoles}
        />
        {groups.length > 0 && (
          <MultiSelect
            label={t("people.groups")}
            data={groups.map((group) => ({ value: String(group.id), label: group.name }))}
            value={teams}
            onChange={setTeams}
          />
        )}
        <NumberInput label={t("invite.days")} min={1} max={30} value={days} onChange={setDays} />
        <Button type="submit" disabled={roles.length === 0} loading={invite.isPending}>
          {t("invite.do")}
        </Button>
        <Problem error={invite.error} />
        {invite.data && (
          <OneTimeLink
            label={t("invite.link")}
            link={invite.data.link}
            note={invite.data.sent ? t("invite.sent", { email: invite.data.invitation.email }) : t("invite.not_sent")}
          />
        )}
      </form>
      {open.length > 0 && <OpenInvitations rows={open} />}
    </>
  );
}

function OpenInvitations({ rows }: { rows: readonly InvitationOut[] }) {
  const { t, moment } = useI18n();
  const withdraw = useWithdraw();
  return (
    <DataTable
      label={t("invite.open")}
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        {
          header: t("invite.open"),
          kind: "name",
          className: styles.name,
          cell: (row) => row.email || t("invite.anybody"),
        },
        { header: t("people.roles"), cell: (row) => row.roles.map((role) => t(`role.${role as Role}`)).join(", ") },
        { header: t("invite.by"), cell: (row) => row.invited_by },
        { header: t("invite.until"), cell: (row) => moment(row.expires_at) },
        {
          header: t("people.actions"),
          kind: "actions",
          cell: (row) => (
            <ConfirmButton
              label={t("invite.withdraw")}
              ariaLabel={t("invite.withdraw_one", { name: row.email || t("invite.anybody") })}
              confirmation={t("invite.withdraw.ask")}
              onConfirm={() => withdraw.mutateAsync(row.id)}
            />
          ),
        },
      ]}
    />
  );
}

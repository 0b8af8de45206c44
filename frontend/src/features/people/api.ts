/** People over HTTP: who is here, invitations, groups, the audit log, and an admin's changes. */
import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { EraseIn, GroupIn, InvitationIn, PersonIn } from "@/generated/api";
import { request } from "@/shared/api/http";

import { toApiQuery, type Filters } from "./audit-filters";

export const ROLES = ["annotator", "reviewer", "researcher", "admin"] as const;

const search = (fields: Record<string, string | number | null>): string =>
  new URLSearchParams(Object.entries(fields).flatMap(([name, value]) => (value ? [[name, String(value)]] : []))).toString();

export const peopleQuery = (words: string, role: string | null) =>
  infiniteQueryOptions({
    queryKey: ["people", words, role],
    queryFn: ({ pageParam }) => request("GET", `/people?${search({ search: words, role, after: pageParam })}`),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
  });

export const groupsQuery = queryOptions({ queryKey: ["groups"], queryFn: () => request("GET", "/groups") });

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: () => request("GET", "/invitations"),
});

export const auditQuery = (filters: Filters) =>
  infiniteQueryOptions({
    queryKey: ["audit", filters],
    queryFn: ({ pageParam }) => {
      const query = toApiQuery(filters);
      if (pageParam) query.set("before", String(pageParam));
      return request("GET", `/audit?${query.toString()}`);
    },
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });

/** A change to one of the lists; all of them are asked for again, for most changes show in two. */
function useChange<Input, Output>(send: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () =>
      Promise.all(["people", "groups", "invitations", "audit"].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}

export const useChangePerson = () =>
  useChange(({ id, ...body }: { id: number } & Partial<PersonIn>) => request("PATCH", `/people/${id}`, body));

export const useErase = () =>
  useChange(({ id, ...body }: { id: number } & EraseIn) => request("POST", `/people/${id}/erase`, body));

export const useRemoveFactor = () => useChange((id: number) => request("DELETE", `/people/${id}/factor`));

export const useMakePasswordLink = () => useChange((id: number) => request("POST", `/people/${id}/password-link`));

export const useEndSignIns = () => useChange((id: number) => request("DELETE", `/people/${id}/sign-ins`));

export const useEndTokens = () => useChange((id: number) => request("DELETE", `/people/${id}/tokens`));

export const useInvite = () => useChange((body: InvitationIn) => request("POST", "/invitations", body));

export const useWithdraw = () => useChange((id: number) => request("DELETE", `/invitations/${id}`));

export const useMakeGroup = () => useChange((body: GroupIn) => request("POST", "/groups", body));

export const useRemoveGroup = () => useChange((id: number) => request("DELETE", `/groups/${id}`));

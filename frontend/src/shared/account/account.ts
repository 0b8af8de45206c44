/** The person at the page: who they are, what they may do, signing in and out. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import type { SessionOut, UserOut } from "@/generated/api";
import { request, setCsrf } from "@/shared/api/http";

export type Role = "annotator" | "reviewer" | "researcher" | "admin";

/** Ask who is signed in; the server takes it as a sign that somebody uses the page. */
export const refreshSession = async () => applySession(await request("GET", "/session"));

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: refreshSession,
  staleTime: Infinity,
});

/** The signed-in person, undefined while asking, null when nobody is. */
export function useSessionUser(): UserOut | null | undefined {
  return useQuery(sessionQuery).data?.user;
}

/** The signed-in person, on pages that are only shown to one. */
export function useUser(): UserOut {
  const user = useSessionUser();
  if (!user) throw new Error("This page is shown only to somebody signed in.");
  return user;
}

/** Whether somebody has any of these roles; an admin has them all. */
export const hasRole = (user: UserOut, ...roles: Role[]): boolean =>
  user.roles.includes("admin") || roles.some((role) => user.roles.includes(role));

export const TO_REVIEW = "/review";

/** Where a person's work begins: what needs those who look after the platform, the queue of those who annotate. */
export function homeOf(user: UserOut): string {
  if (hasRole(user, "researcher")) return "/home";
  if (hasRole(user, "annotator")) return "/queue";
  return hasRole(user, "reviewer") ? TO_REVIEW : "/episodes";
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (credentials: { username: string; password: string; code: string }) =>
      applySession(await request("POST", "/session", credentials)),
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, session),
  });
}

/** Sign out and forget everything on the page; `forget` removes what would outlive it. */
export function useSignOut(forget: () => void) {
  return useMutation({
    mutationFn: () => request("DELETE", "/session"),
    onSuccess: () => {
      forget();
      window.location.assign("/");
    },
  });
}

function applySession(session: SessionOut): SessionOut {
  setCsrf(session.csrf);
  return session;
}

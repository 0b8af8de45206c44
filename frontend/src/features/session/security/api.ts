/** A person's own ways in, over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { PasswordChangeIn, TokenIn } from "@/generated/api";
import { request } from "@/shared/api/http";

export const securityQuery = queryOptions({
  queryKey: ["security"],
  queryFn: () => request("GET", "/me/security"),
});

function useChange<Input, Output>(send: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: securityQuery.queryKey }) });
}

export const useBeginFactor = () => useChange(() => request("POST", "/me/factor"));

export const useConfirmFactor = () =>
  useChange((code: string) => request("POST", "/me/factor/confirm", { code }));

export const useRemoveFactor = () => useChange(() => request("POST", "/me/factor/remove"));

export const useRenewCodes = () => useChange(() => request("POST", "/me/factor/codes"));

export const useChangePassword = () => useChange((body: PasswordChangeIn) => request("POST", "/me/password", body));

export const useEndSignIn = () => useChange((id: number) => request("DELETE", `/me/sign-ins/${id}`));

export const useEndOthers = () => useChange(() => request("POST", "/me/sign-ins/end-others"));

export const useMakeToken = () => useChange((body: TokenIn) => request("POST", "/me/tokens", body));

export const useEndToken = () => useChange((id: number) => request("DELETE", `/me/tokens/${id}`));

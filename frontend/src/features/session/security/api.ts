/** A person's own ways in, over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { FactorSetup, PasswordChangeIn, RecoveryCodes, SecurityOut, TokenIn, TokenCreated } from "@/generated/api";
import { request } from "@/shared/api/http";

export const securityQuery = queryOptions({
  queryKey: ["security"],
  queryFn: () => request<SecurityOut>("GET", "/me/security"),
});

function useChange<Input, Output>(send: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: securityQuery.queryKey }) });
}

export const useBeginFactor = () => useChange(() => request<FactorSetup>("POST", "/me/factor"));

export const useConfirmFactor = () =>
  useChange((code: string) => request<RecoveryCodes>("POST", "/me/factor/confirm", { code }));

export const useRemoveFactor = () => useChange(() => request<null>("POST", "/me/factor/remove"));

export const useRenewCodes = () => useChange(() => request<RecoveryCodes>("POST", "/me/factor/codes"));

export const useChangePassword = () => useChange((body: PasswordChangeIn) => request<null>("POST", "/me/password", body));

export const useEndSignIn = () => useChange((id: number) => request<null>("DELETE", `/me/sign-ins/${id}`));

export const useEndOthers = () => useChange(() => request<null>("POST", "/me/sign-ins/end-others"));

export const useMakeToken = () => useChange((body: TokenIn) => request<TokenCreated>("POST", "/me/tokens", body));

export const useEndToken = () => useChange((id: number) => request<null>("DELETE", `/me/tokens/${id}`));

/** Paired computers and one's own recordings, over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ComputerIn, TermsToAgree } from "@/generated/api";
import { request } from "@/shared/api/http";

const LISTENING_MS = 3_000;

export const recorderQuery = queryOptions({
  queryKey: ["recorder"],
  queryFn: () => request("GET", "/recorder"),
  /** While a code waits for its computer, or a recording is on its way. */
  refetchInterval: ({ state: { data } }) =>
    data?.computers.some((one) => one.paired_at === null) || data?.recordings.some((one) => one.state === "uploading" || one.state === "importing")
      ? LISTENING_MS
      : false,
});

function useChange<Input, Output>(send: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: recorderQuery.queryKey }) });
}

export const useMakeCode = () => useChange((body: ComputerIn) => request("POST", "/recorder/computers", body));

export const useRevoke = () => useChange((id: number) => request("DELETE", `/recorder/computers/${id}`));

export const useDeleteRecording = () => useChange((id: string) => request("DELETE", `/recorder/recordings/${id}`));

export const useAgree = () => useChange(({ pool, version }: TermsToAgree) => request("POST", `/pools/${pool}/consent`, { version }));

export const useWithdraw = () => useChange((id: string) => request("POST", `/recorder/recordings/${id}/withdrawal`));

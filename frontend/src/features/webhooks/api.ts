/** Webhooks over HTTP. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { WebhookIn, WebhookOut } from "@/generated/api";
import { request } from "@/shared/api/http";

export const webhooksQuery = queryOptions({
  queryKey: ["webhooks"],
  queryFn: () => request("GET", "/webhooks"),
  refetchInterval: (query) => (query.state.data?.some(({ pending }) => pending > 0) ? 2_000 : 30_000),
});

/** What became of a webhook's messages; asked again every second while one is on its way. */
export const deliveriesQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", id, "deliveries"],
    queryFn: ({ pageParam }) =>
      request("GET", `/webhooks/${id}/deliveries?${new URLSearchParams(pageParam ? { after: pageParam } : {}).toString()}`),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    refetchInterval: (query) =>
      query.state.data?.pages.some(({ items }) => items.some(({ state }) => state === "pending")) ? 1_000 : false,
  });

export const EVENTS = [
  "episode.finished",
  "review.decided",
  "export.finished",
  "export.failed",
  "import.finished",
  "import.failed",
  "policy.promoted",
] as const satisfies readonly WebhookOut["events"][number][];

function useSend<Input, Output>(send: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: webhooksQuery.queryKey }),
  });
}

export const useAdd = () => useSend((input: WebhookIn) => request("POST", "/webhooks", input));

export const useNewSecret = () => useSend((id: number) => request("POST", `/webhooks/${id}/secret`));

export type Change =
  | { readonly type: "enable"; readonly id: number; readonly enabled: boolean }
  | { readonly type: "ping"; readonly id: number }
  | { readonly type: "remove"; readonly id: number };

async function send(change: Change): Promise<void> {
  switch (change.type) {
    case "enable":
      await request("PATCH", `/webhooks/${change.id}`, { enabled: change.enabled });
      return;
    case "ping":
      await request("POST", `/webhooks/${change.id}/ping`);
      return;
    case "remove":
      await request("DELETE", `/webhooks/${change.id}`);
      return;
  }
}

export const useChange = () => useSend(send);

/** The calls of one page, with the address's own ids and filters in them. */
import { useSearchParams } from "react-router";

import { ApiCallList } from "@/shared/ui/api-calls";

import { PAGE_CALLS } from "./calls";

export default function PageCalls({ page, id }: { readonly page: string; readonly id: string }) {
  const [search] = useSearchParams();
  return <ApiCallList calls={PAGE_CALLS[page]?.({ id, search }) ?? []} />;
}

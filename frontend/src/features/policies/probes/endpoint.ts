/** Which model a revision is, as a probe is asked for it. */
import type { ProbeIn, RevisionSummary } from "@/generated/api";

import type { ProbeEndpoint } from "./api";

export const endpointOf = (revision: RevisionSummary): ProbeEndpoint => ({
  base_url: revision.base_url,
  model: revision.model,
  dialect: revision.policy.dialect as ProbeIn["dialect"],
  provider: revision.provider,
  provider_settings: revision.provider_settings,
  prompt: revision.prompt,
});

/** The English catalogue: the one that defines which messages exist. */
import { branchMessages } from "./en/branch";
import { browserMessages } from "./en/browser";
import { dataMessages } from "./en/data";
import { deskMessages } from "./en/desk";
import { exportMessages } from "./en/exports";
import { judgeMessages } from "./en/judges";
import { machineMessages } from "./en/machines";
import { panelMessages } from "./en/panels";
import { peopleMessages } from "./en/people";
import { phoneMessages } from "./en/phone";
import { policyMessages } from "./en/policies";
import { poolMessages } from "./en/pools";
import { promptMessages } from "./en/prompt";
import { reportMessages } from "./en/reports";
import { reviewMessages } from "./en/review";
import { sharedMessages } from "./en/shared";
import { shellMessages } from "./en/shell";

export const en = {
  ...sharedMessages,
  ...shellMessages,
  ...deskMessages,
  ...panelMessages,
  ...peopleMessages,
  ...phoneMessages,
  ...browserMessages,
  ...machineMessages,
  ...judgeMessages,
  ...policyMessages,
  ...poolMessages,
  ...promptMessages,
  ...reviewMessages,
  ...branchMessages,
  ...reportMessages,
  ...dataMessages,
  ...exportMessages,
} as const;

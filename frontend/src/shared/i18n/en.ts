/** The English catalogue: the one that defines which messages exist. */
import { apiCallMessages } from "./en/api-calls";
import { applicationMessages } from "./en/applications";
import { auditMessages } from "./en/audit";
import { benchmarkMessages } from "./en/benchmarks";
import { branchMessages } from "./en/branch";
import { browserMessages } from "./en/browser";
import { dataMessages } from "./en/data";
import { designMessages } from "./en/design";
import { draftMessages } from "./en/drafts";
import { workspaceMessages } from "./en/workspace";
import { evaluationMessages } from "./en/evaluations";
import { exportMessages } from "./en/exports";
import { flywheelMessages } from "./en/flywheel";
import { healthMessages } from "./en/health";
import { importMessages } from "./en/imports";
import { judgeMessages } from "./en/judges";
import { machineMessages } from "./en/machines";
import { panelMessages } from "./en/panels";
import { peopleMessages } from "./en/people";
import { phoneMessages } from "./en/phone";
import { policyMessages } from "./en/policies";
import { probeMessages } from "./en/probes";
import { poolMessages } from "./en/pools";
import { promptMessages } from "./en/prompt";
import { recorderMessages } from "./en/recorder";
import { reportMessages } from "./en/reports";
import { retentionMessages } from "./en/retention";
import { reviewMessages } from "./en/review";
import { sharedMessages } from "./en/shared";
import { shellMessages } from "./en/shell";
import { speechMessages } from "./en/speech";
import { trialMessages } from "./en/trials";
import { homeMessages } from "./en/home";
import { wallMessages } from "./en/wall";
import { webhookMessages } from "./en/webhooks";

export const en = {
  ...sharedMessages,
  ...apiCallMessages,
  ...shellMessages,
  ...workspaceMessages,
  ...panelMessages,
  ...peopleMessages,
  ...auditMessages,
  ...phoneMessages,
  ...browserMessages,
  ...machineMessages,
  ...designMessages,
  ...applicationMessages,
  ...draftMessages,
  ...flywheelMessages,
  ...trialMessages,
  ...healthMessages,
  ...retentionMessages,
  ...judgeMessages,
  ...benchmarkMessages,
  ...evaluationMessages,
  ...policyMessages,
  ...probeMessages,
  ...poolMessages,
  ...promptMessages,
  ...reviewMessages,
  ...speechMessages,
  ...branchMessages,
  ...recorderMessages,
  ...reportMessages,
  ...dataMessages,
  ...webhookMessages,
  ...exportMessages,
  ...importMessages,
  ...homeMessages,
  ...wallMessages,
} as const;

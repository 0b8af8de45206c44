/** The Chinese catalogue; a missing or a surplus message fails the type check. */
import { apiCallMessages } from "./zh/api-calls";
import { applicationMessages } from "./zh/applications";
import { auditMessages } from "./zh/audit";
import { benchmarkMessages } from "./zh/benchmarks";
import { branchMessages } from "./zh/branch";
import { browserMessages } from "./zh/browser";
import { dataMessages } from "./zh/data";
import { designMessages } from "./zh/design";
import { draftMessages } from "./zh/drafts";
import { workspaceMessages } from "./zh/workspace";
import { evaluationMessages } from "./zh/evaluations";
import { exportMessages } from "./zh/exports";
import { flywheelMessages } from "./zh/flywheel";
import { healthMessages } from "./zh/health";
import { importMessages } from "./zh/imports";
import { judgeMessages } from "./zh/judges";
import { machineMessages } from "./zh/machines";
import { panelMessages } from "./zh/panels";
import { peopleMessages } from "./zh/people";
import { phoneMessages } from "./zh/phone";
import { policyMessages } from "./zh/policies";
import { probeMessages } from "./zh/probes";
import { poolMessages } from "./zh/pools";
import { promptMessages } from "./zh/prompt";
import { recorderMessages } from "./zh/recorder";
import { reportMessages } from "./zh/reports";
import { retentionMessages } from "./zh/retention";
import { reviewMessages } from "./zh/review";
import { sharedMessages } from "./zh/shared";
import { shellMessages } from "./zh/shell";
import { speechMessages } from "./zh/speech";
import { trialMessages } from "./zh/trials";
import { homeMessages } from "./zh/home";
import { wallMessages } from "./zh/wall";
import { webhookMessages } from "./zh/webhooks";

export const zh = {
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
};

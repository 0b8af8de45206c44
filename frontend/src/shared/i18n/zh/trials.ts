/** 关卡尝试的文字：逐个种子，以及并排对照。 */
import type { Message } from "@/shared/i18n/messages";

export const trialMessages = {
  "trials.attempts": "尝试",
  "trials.attempts_of": "{task} 的尝试",
  "trials.seeds": "各种子的尝试",
  "trials.seed": "种子",
  "trials.open": "种子 {seed}：并排查看两次尝试",
  "trials.solved_by": "谁做成了",
  "trials.both": "两者都成",
  "trials.neither": "都没成",
  "trials.only_active": "只有现用版本",
  "trials.only_candidate": "只有候选版本",
  "trials.solved": "做成",
  "trials.failed": "没做成",
  "trials.not_tried": "没试",
  "trials.steps": { other: "{count} 步" },
  "trials.more": { other: "还有 {count} 个" },
  "trials.none": "没有对此任务的尝试",
  "trials.comparison": "并排对照",
  "trials.at": "{task}，种子 {seed}",
  "trials.side.active": "现用",
  "trials.side.candidate": "候选",
} as const satisfies Record<string, Message>;

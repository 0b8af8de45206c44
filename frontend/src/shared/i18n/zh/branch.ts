/** 关于从先前尝试的某一状态开始的尝试。 */
import type { Message } from "@/shared/i18n/messages";

export const branchMessages = {
  "branch.steps": { other: "{count} 步" },
  "branch.warming": "正在重做先前尝试的步骤",
  "branch.warming.help": "任务将从其结果处开始：{steps}之后。",
  "branch.reached": "本次从先前尝试所到之处开始：{steps}之后。",
  "branch.missed": "本次本应从先前尝试的{steps}之后开始，现改为从头开始：{reason}。",
  "branch.replay": "从先前尝试的{steps}之后开始",
  "branch.replay.missed": "本应从先前尝试的{steps}之后开始，改为从头开始：{reason}",
  "branch.earlier": "先前的尝试",
  "policies.state.begin": "从此处开始",
  "policies.state.begin_of": "让 {task} 从第 {number} 步之前开始",
} as const satisfies Record<string, Message>;

/** 主页的文字。 */
import type { Message } from "@/shared/i18n/messages";

export const homeMessages = {
  "global.home": "主页",
  "global.home.help": "查看需要您处理的事项",

  "home.needs_you": "待您处理",
  "home.nothing": "没有需要您处理的事项",
  "home.last_day": "最近 24 小时",
  "home.tone.danger": "紧急",
  "home.tone.warn": "尽快",
  "home.tone.info": "等待中",

  "home.help": "{name} 请求帮助",
  "home.more_help": { other: "还有 {count} 个会话请求帮助" },
  "home.reviews": { other: "{count} 条轨迹等待您审核" },
  "home.reviews_many": { other: "超过 {count} 条轨迹等待您审核" },
  "home.pool_empty": "{name} 已没有待领取的任务",
  "home.pool_dry": { other: "{name} 只剩 {count} 个待领取的任务" },
  "home.pool_pace": { other: "最近 24 小时完成了 {count} 个" },
  "home.part_down": "{name}：无法工作",
  "home.part_warns": "{name}：需要检查",
  "home.health_unknown": "已有数分钟没有检查平台状态",
  "home.health_unknown.help": "后台工作进程或调度器没有运行。",
  "home.policy_overridden": "{name} 的改写率上升",
  "home.policy_rates": { other: "最近 6 小时的 {count} 次决定中，改写率从 {before} 升至 {after}" },
  "home.policy_degraded": "探测发现 {name} 有问题",
  "home.gate_passed": "{name} 已通过 {pool} 的门槛，可以启用",
  "home.gate_shut": "{name} 未通过 {pool} 的门槛",
  "home.cycle": "{name} 的第 {number} 轮失败",
  "home.job.export": "{name} 发起的导出失败",
  "home.job.import": "{name} 的导入失败",
  "home.job.probe": "{name} 的探测失败",
  "home.job.judge": "{name} 中的自动评判失败",
  "home.evaluation": "评测 {name} 失败",

  "home.no_acts": "最近 24 小时没有操作",
  "home.acts": "操作",
  "home.acts_per_hour": "每小时操作数",
  "home.acts_total": { other: "{count} 次操作" },
  "home.override_total": { other: "{count} 次决定中占 {percent}" },
} as const satisfies Record<string, Message>;

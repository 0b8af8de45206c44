/** 轨迹浏览与导出格式的文字。 */
import type { Message } from "@/shared/i18n/messages";

export const dataMessages = {
  "trajectories.title": "检索轨迹",
  "trajectories.found": { other: "{count} 条轨迹" },
  "trajectories.narrowing": "检索条件",
  "trajectories.search": "搜索指令、思考与动作",
  "trajectories.none": "没有找到",
  "trajectories.none.help": "去掉一个筛选条件，或换别的词。轨迹结束几秒后即可找到。",
  "trajectories.decisions": "决定",
  "trajectories.policies": "策略",
  "trajectories.applications": "应用",
  "trajectories.any": "不限",
  "trajectories.more": "更多",
  "trajectories.first": "最新",
  "trajectories.save": "保存此查询",
  "trajectories.name": "名称",
  "trajectories.kept": "已保存的查询",
  "trajectories.compare": "对比",
  "trajectories.compare_one": "对比此任务的尝试：{task}",
  "exports.format": "格式",
  "exports.dialect": "方言",
  "exports.leave_out_missing": "略去丢失图片的轨迹",
  "exports.cancel": "取消",
  "exports.retry": "重试",
  "exports.cancelled": "已取消",
  "exports.refused": { other: "略去 {count} 条轨迹" },
} as const satisfies Record<string, Message>;

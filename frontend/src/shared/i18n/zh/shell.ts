/** Messages of everything but the desk, in Chinese. */
import type { shellMessages as english } from "@/shared/i18n/en/shell";
import type { Message } from "@/shared/i18n/messages";

export const shellMessages: Record<keyof typeof english, Message> = {
  "commands.help": "键盘帮助",
  "commands.help.help": "显示所有命令及其按键",
  "commands.palette": "命令面板",
  "commands.palette.help": "按名称查找并运行命令",
  "commands.palette.empty": "没有匹配的命令",
  "commands.search": "搜索命令",
  "commands.unassigned": "无按键",
  "scope.global": "全局",
  "scope.queue": "队列",
  "scope.desk": "工作台",
  "scope.takeover": "接管",
  "scope.replay": "回放",
};

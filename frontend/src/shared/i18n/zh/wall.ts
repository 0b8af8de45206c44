/** 实时会话墙的文字。 */
import type { Message } from "@/shared/i18n/messages";

export const wallMessages = {
  "global.wall": "实时",
  "global.wall.help": "查看所有正在进行的会话",

  "wall.title": "实时",
  "wall.list": "进行中的会话",
  "wall.sessions": { other: "{count} 个会话进行中" },
  "wall.waiting": { other: "{count} 个等待帮助" },
  "wall.pause": "暂停画面",
  "wall.resume": "继续画面",
  "wall.none": "目前没有进行中的会话",
  "wall.none.help": "标注员开始任务后，其屏幕会显示在这里。",
  "wall.help": "请求帮助",
  "wall.away": "页面已关闭",
  "wall.steps": { other: "{count} 步" },
  "wall.override": "改写率",
  "wall.screen_of": "{name} 的屏幕",
  "wall.picture_comes": "画面加载中",
  "wall.no_picture": "暂无画面",
} as const satisfies Record<string, Message>;

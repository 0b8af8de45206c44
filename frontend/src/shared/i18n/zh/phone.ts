/** Messages about phones, in Chinese. */
import type { phoneMessages as english } from "@/shared/i18n/en/phone";

export const phoneMessages: Record<keyof typeof english, string> = {
  "phone.pad": "手机按键与应用",
  "phone.home": "主屏幕",
  "phone.home.help": "按下手机的主屏幕键",
  "phone.back": "返回",
  "phone.back.help": "按下手机的返回键",
  "phone.apps": "打开应用",
  "phone.apps.help": "按名称打开手机上的应用",
  "phone.apps.none": "手机尚未给出应用列表。",
  "phone.apps.typed": "列表中没有此应用。回车将按所写名称尝试打开。",
  "phone.point.help": "方向键移动准星，按住 Shift 逐像素移动，按住 Ctrl 跳到下一个标记或元素。回车点按，Shift+回车长按，M 显示该处可做的全部动作。",
};

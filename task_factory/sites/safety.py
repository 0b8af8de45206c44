"""Which tasks must not be made: what they do cannot be taken back, costs money, or reaches other people.

Decided by words, in English and Chinese, of the task and of every element that its script uses, with the dialog and the
form around it: a paraphrased instruction still presses a button that says what it does.
"""

import re
from collections.abc import Iterable

from vm_bridge.suites.site_tasks.pages import PageElement

_ENGLISH = {
    "delete": r"delet(e|es|ed|ing|ion)|eras(e|es|ed|ing)|wip(e|es|ed|ing)( out)?|remov(e|es|ed|ing) (permanently|for good|forever)"
    r"|get(s|ting)? rid of|throw(s|n|ing)? (\w+ )?(away|out)|discard(s|ed|ing)?|destroy(s|ed|ing)?|purg(e|es|ed|ing)"
    r"|empty (the )?(bin|trash|folder|cart|basket)|(to|into|in) the (bin|trash|rubbish|waste)|trash (it|them|the)|clear (all|everything|the)"
    r"|factory reset|reset (all|everything|to default)|uninstall|drop (the )?(table|database)",
    "pay": r"pay|pays|paying|payments?|checkout now|purchas(e|es|ed|ing)|buy|buys|buying|bought|order (and pay|now)"
    r"|(place|submit|confirm|complete|finali[sz]e|send) (\w+ ){0,3}(orders?|purchase|checkout)|make (\w+ ){0,3}order final"
    r"|donat(e|es|ed|ing|ion)|subscrib(e|es|ed|ing)|transfer (\w+ ){0,3}(money|funds)|card number|top up|bid",
    "send": r"send(s|ing)?|forward(s|ing)? (\w+ ){0,4}to|repl(y|ies|ying)( to)?|e-?mail(ing)? (him|her|them|to|the)|invit(e|es|ing)"
    r"|text (him|her|them)|call (him|her|them)|let (\w+ ){1,3}know by (mail|message)|contact (us|the)|messag(e|ing) (him|her|them|to)",
    "account": r"(change|reset|update|new|choose|set) (\w+ ){0,3}(password|username|user name|e-?mail address)"
    r"|(create|open|close|deactivate|delete|register|sign up for) (\w+ ){0,3}account|register|sign(ing)? ?up|log(ging)? ?out|sign(ing)? ?out"
    r"|deactivat(e|es|ing)|two-factor|revoke|unsubscrib(e|es|ed|ing)",
    "publish": r"publish(es|ed|ing)?|shar(e|es|ing) (\w+ ){0,4}(with|publicly|online)|tweet(s|ing)?|(make|go) (\w+ ){0,3}(public|live)"
    r"|post(s|ing)? (a|an|the|this|it|your|my)( \w+){0,3}|submit (\w+ ){0,3}(review|comment|report|application|complaint)|write a (public )?review",
    "cancel": r"cancel(s|led|ling)? (\w+ ){0,4}(orders?|bookings?|appointments?|reservations?|subscriptions?|memberships?|plans?|account|flights?|trip)"
    r"|call off|terminat(e|es|ing)|withdraw|resign|opt out",
}
_CHINESE = {
    "delete": "删除|清空|抹掉|移除|丢弃|扔掉|放入回收站|移到回收站|放进回收站|卸载|恢复出厂|清除",
    "pay": "付款|支付|购买|下单|结账|买下|充值|捐款|转账|订阅|提交订单",
    "send": "发送|寄出|回复|转发给|转发|邀请|发邮件|发短信|告诉他|告诉她|联系客服",
    "account": "修改密码|更改密码|重置密码|注册|注销|退出登录|退订|更改邮箱|关闭账号|关闭账户|创建账号|创建账户",
    "publish": "发布|公开|分享给|发表|提交评论|提交评价|投稿",
    "cancel": "取消订单|取消预约|取消预订|取消订阅|取消.{0,6}(预约|订单|预订|订阅)|撤销订单|终止",
}
_PATTERNS = {
    reason: re.compile(rf"(?<![a-z-])({english})(?![a-z-])|{_CHINESE[reason]}", re.I) for reason, english in _ENGLISH.items()
}
_BARE_BUTTONS = {
    "cancel": re.compile(r"^(cancel|取消)$", re.I),
    "publish": re.compile(r"^(post|share|tweet|submit review|分享|发帖)$", re.I),
    "delete": re.compile(r"^(remove|bin|trash|clear|🗑.*|移走|回收站)$", re.I),
    "send": re.compile(r"^(forward|reply all|submit message|转发|提交留言)$", re.I),
    "pay": re.compile(r"^(checkout|check out|order|to the order|place order|去下单|去结算|结算)$", re.I),
}
"""What a button says that does it, though the word alone in a sentence means nothing."""


def destructive_reason(*texts: str) -> str:
    """What a task of these words would do that none may; empty where nothing."""
    for text in texts:
        for reason, pattern in _PATTERNS.items():
            if pattern.search(text):
                return reason
        for reason, pattern in _BARE_BUTTONS.items():
            if pattern.search(text.strip()):
                return reason
    return ""


def element_reason(element: PageElement) -> str:
    """What using an element would do that no task may: by its name, and for a button by the dialog and form around it;
    empty where nothing. A button *Cancel* of a dialog only closes it."""
    if element.in_dialog and _BARE_BUTTONS["cancel"].search(element.name):
        return ""
    if reason := destructive_reason(element.name):
        return reason
    if element.role not in ("button", "link", "menuitem"):
        return ""
    around = [element.dialog] if element.in_dialog else []
    around += [element.form, element.submit] if element.submits else []
    return destructive_reason(*around)


def writes_reason(writes: Iterable[str]) -> str:
    """What requests of a live site's page would do: anything that is not reading counts."""
    return "writes" if any(True for _ in writes) else ""

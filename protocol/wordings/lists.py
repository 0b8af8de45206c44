"""Words that near duplicates may differ in: politeness, function words, and verbs for the same act, in English and
Chinese. Data of `comparison`."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STOP_WORDS = frozenset(
    _words("""a an the this that these those it its they them their there here i me my we us our you your
    to of in into on onto at from for with by as and or then also after before once so up out off over
    is are be was were been being has have had having do does did can could will would shall should may might must
    want wants wanted need needs needed like get gets let lets make sure go put set use using called named name
    please kindly thanks thank now just which who what when where how if please want there's i'd i'll you'd
    give gives many much say says saying said one ones some any all every each other same such only
    if whether know chance help great appreciate favor favour able""")
)
"""They tell two tasks apart in nothing that matters."""
NEGATIONS = frozenset(_words("not never no none without except unless neither nor cannot nothing nobody avoid skip"))
ENGLISH_VERBS: tuple[tuple[str, ...], ...] = (
    ("open", "launch", "start", "run"),
    ("close", "exit", "quit", "shut"),
    ("create", "make", "generate", "build"),
    ("delete", "remove", "erase", "discard", "clear"),
    ("add", "insert", "append", "include", "attach"),
    ("write", "type", "enter", "fill", "compose"),
    ("change", "edit", "modify", "update", "adjust", "alter", "set", "switch", "configure"),
    ("rename", "retitle", "relabel"),
    ("move", "transfer", "relocate", "drag", "reschedule", "postpone"),
    ("copy", "duplicate", "clone"),
    ("send", "email"),
    ("forward",),
    ("reply", "answer", "respond"),
    ("find", "search", "look", "locate", "seek"),
    ("show", "display", "see"),
    ("tell", "inform", "notify"),
    ("buy", "purchase", "order"),
    ("return",),
    ("save", "store", "keep"),
    ("download", "fetch"),
    ("upload",),
    ("select", "choose", "pick", "tick"),
    ("enable", "activate", "allow"),
    ("disable", "deactivate"),
    ("share", "publish"),
    ("print",),
    ("sort", "rank"),
    ("filter", "narrow"),
    ("book",),
    ("cancel", "abort", "withdraw"),
    ("count", "tally"),
    ("split", "divide"),
    ("merge", "combine", "join", "unite"),
    ("rotate",),
    ("crop", "trim"),
    ("resize", "scale"),
    ("translate",),
    ("block", "ban"),
    ("call", "dial"),
    ("play", "listen"),
    ("pause", "stop", "halt"),
    ("archive",),
    ("assign",),
    ("export",),
    ("import",),
    ("install",),
    ("undo", "revert"),
    ("compare",),
    ("sign", "log"),
)
"""Each line are verbs for one act; those of two lines are two acts."""
WEAK_ACTS = frozenset(
    _words("open create write change find show select tell save add 打开 新建 写 修改 查找 告诉 保存 添加")
)
"""Acts, by the first of their line, that one text may name and another leave unsaid, such as opening what is changed.
Two texts are two tasks where one names any other act that the other text does not."""
QUESTION_ACTS = frozenset(_words("find show tell 查找 告诉"))
"""Verbs of questions; one may replace another."""
IRREGULAR_VERBS = {
    form: verb
    for verb, forms in {
        "keep": "kept",
        "send": "sent",
        "find": "found",
        "seek": "sought",
        "buy": "bought",
        "write": "wrote written",
        "make": "made",
        "build": "built",
        "choose": "chose chosen",
        "tell": "told",
        "show": "shown",
        "see": "saw seen",
        "begin": "began begun",
        "withdraw": "withdrew withdrawn",
        "run": "ran",
        "draw": "drew drawn",
        "hide": "hid hidden",
        "take": "took taken",
        "give": "gave given",
        "hold": "held",
        "leave": "left",
        "pay": "paid",
        "sell": "sold",
    }.items()
    for form in forms.split()
}
SUBJECTS_VERBS = frozenset(
    _words("needs need should gets get wants want has have is are was were will must can may would does")
)
"""Behind a subject; what stands before them is no imperative."""
OBJECTS_BEGINNINGS = frozenset(
    _words("the a an my our your its their this that these those all every each me us it them him her up down off out")
)
"""What stands behind a verb rather than behind a noun."""
CHINESE_LIGHT = _words(
    """麻烦你 麻烦您 麻烦 请你 请您 请 帮我 帮忙 帮 能不能 可以 能否 可不可以 我想让 我想 我要 想让 想 谢谢
    感谢 一下 之后 以后 然后 再 接着 并且 并 而且 名字叫 名叫 名为 叫做 叫 这一 这个 那个 那里 这里 一个
    这 那 的 了 吧 呢 吗 啊 在 把 将 给 到 里面 里 上面 上 中 内 从 和 与 跟 同 要 下 后 去 来 我 你 您 他
    她 它 们 个 是 对 为 让 好 先 就 都 也 说"""
)
CHINESE_NEGATIONS = _words(
    "不要 不能 不用 不是 不 (?<![级类特分区])别 勿 没有 没 无(?!线|论|障) 未 除了 除非 除外 禁止"
)
"""Regular expressions."""
CHINESE_VERBS: tuple[tuple[str, ...], ...] = (
    ("打开", "开启", "启动", "运行"),
    ("关闭", "关掉", "退出"),
    ("新建", "创建", "建立", "建"),
    ("删除", "删掉", "移除", "去掉", "清除"),
    ("添加", "加入", "增加", "插入", "放进", "放入", "放到"),
    ("写", "输入", "填写", "填入"),
    ("修改", "更改", "改成", "改为", "调整", "设置", "设为", "调到", "改"),
    ("移动", "移到", "挪到"),
    ("复制", "拷贝"),
    ("发送", "发给", "发一封", "发封", "发", "寄"),
    ("查找", "搜索", "寻找", "找到", "找"),
    ("告诉", "告知"),
    ("购买", "买", "订购", "订", "下单"),
    ("保存", "存储", "保留", "留"),
    ("排序",),
    ("筛选",),
    ("退",),
    ("下载",),
    ("上传",),
    ("打印",),
    ("分享", "共享"),
)
SMALL_TALK = (
    r"\bno (?:rush|hurry|worries|problem)\b|\bnot(?:hing)? urgent\b|\b(?:would|do) you mind\b"
    r"|不着?急|没关系|不客气|不好意思"
)
"""Politeness that has a negation in it."""
NUMBER_WORDS = dict(
    zip(
        _words("zero one two three four five six seven eight nine ten eleven twelve"),
        map(str, range(13)),
        strict=True,
    )
)
MONTHS = _words("january february march april may june july august september october november december")
WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")
_PAIRS = """before after, above below, over under, up down, on off, into from, first last, left right, top bottom,
    more less, most least, 上 下, 前 后, 左 右, 大 小, 高 低, 多 少, 进 出"""
OPPOSITES = {
    word: opposite
    for one, other in (pair.split() for pair in _PAIRS.split(","))
    for word, opposite in ((one, other), (other, one))
}

"""What keeps a deed from being read into words that ask for none.

Each row reads the whole text and takes deeds away: what is left is safer, never more.  Who finds
that something is read wrongly adds a line to a list of examples; a row is only for what must not
hang on what was learnt.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from local_agent.understand.reading import ACTS, Kind

# Classes of words, as they are in a text that was folded, with \x01 and \x02 for what was pasted or
# quoted in it.  A Latin word ends where it ends; Chinese is written without blanks.
CLASSES_LISTED: Final = r"""
    begin: ^(?:[\s,.:;!?@/*#()>-]|\d+[.)]|\x02|\x01|dev\b|hey\b|hi\b|hello|so\b|um+\b|uh\b|and\b
        |but\b
        |ok(?:ay)?\b|wait\b|hmm+\b|well\b|sorry\b|guys\b|btw\b|just\b|嗯|诶|哎|喂|那个|就是
        |我?想?请?问一?下?|话说|也|对了|大家好|你好)*
    end: (?:[\W_]|[啊呀呢的了哈嘞啦]|谢谢|thanks|thx)*$
    plea: please|\b(?:pls|plz|kindly|let's|lets|i'd|i want|i need|i would like|we need|any chance)\b
        |\b(?:can|could|would|will|may|might) (?:you|u|we|i|somebody|someone)\b|would it be
        |\bmind \w+ing|how about|why (?:don't|not)|帮|麻烦|劳驾|请(?!问|求|假)|给我|替我|能不能
        |可不可以|可以|能否|可否|要不要?把|要不然?(?!要)|不如|咱们?|拜托|烦请
    fail_zh: 报错|报\d|异常|失败|不过|不去|不了|不出|不到|不动|不起来|起不来|没反应|没用|卡死|卡住
        |卡在|很卡|挂了|就挂|崩|闪退|白屏|乱码|错乱|不显示|不见|没了|超时|为空|变成|成了|就空|跪
        |当掉|當掉|死机|拒绝|看不到|断了|锁着|不对|错了|不一致|不生效|很慢|好慢|太慢|内存涨|泄漏
        |\boom\b|npe|timeout|error|\bhang\b|rejected|抛|丢了|找不到|打不开|无法|没法|不能用|有问题
        |出问题|怪怪|显示成|要[两三四五六七八九十\d]+秒
    ask_en: (?:why|what|what's|whats|which|who|whose|whom|when|where|how|hows|how's|is|are|am|was
        |were|do|does|did|has|have|had|should|shall|isn't|aren't|doesn't|didn't|hasn't|wouldn't
        |any idea|anyone|anybody|wonder\w*)\b
    ask_zh: (?:吗|嘛|么|没有?|不|多少|多久|几个|啥|什么|哪里?|哪儿|谁|怎么样?|咋样?|为什么|为啥|如何
        |区别|何时|呢)
    look: (?:review|look (?:at|over|through|into)|go over|read|explain|describe|find|search|locate
        |grep|list|enumerate|show|tell|spell|vet|scrutini\w+|summari\w+|walk (?:me|us)|compare
        |see if|see whether|judge|point out|proofread|check out|审|评审|复核|解释|说明一?下|阐述|讲
        |搜|查|找|列|寻|看|指给|睇|只搜|读|校一?校|说说|聊聊|浓缩|捋|分析)
    stop: (?:don't|dont|do not|never|no (?:more|need|push\w*|commits?|edits?|changes|fixes|running
        |fixing|tests?)|hands off|refrain|leave|let's not|lets not|rather not|would rather not
        |i'd rather not|nobody|no one|must not|mustn't|under no|stand down
        |hold off|not yet|stop (?!it|that|the (?:task|run|job))\w+ing)\b
    stop_zh: (?:(?<![特级类区识性告个分])别(?!的|人|名|处|扭|致|忘)|不要|不许|不准|不得|不用|不必
        |不需要|无需|禁止|严禁|勿|甭|谁都|都不许|没让|没叫|没要|能不能不|可不可以不|不如不)
    then: [,;.!\n] ?(?:just|only|instead|rather|but|please|also|then|and|use|make|keep|do|run|push
        |fix|commit|add|change|write|try)\b|\binstead\b|\bforget\b
    then_zh: \s(?:改[成为用]|换[成用]|直接|就用|只用|而是)
        |[,.!?;:\n](?:只|就|改|直接|先|用|换|再|顺|帮|把|但|可以|要|提交|推|跑|测|加|写|保留
        |去)|而是|忘|别再|不要了|不用.{1,12}了.{0,4}(?:换|改|用)|每次|即可
    yes: (?:approved?|approving|lgtm|confirm(?:ed)?|granted|permission|you have my|go ahead
        |go for it|do it\b|ship it|proceed|yes\b|yep\b|yeah\b|agreed?|accept\w*|同意|批准|准了|审批
        |批了|通过|我批|确认|放行|就这样|上吧|干吧|动手|执行吧|没问题|可以执行|拒绝|驳回)
    thing: button|page|flow|dialog|e?mails?|message|screen|按钮|页面|流程|接口|弹窗|逻辑|文案|状态
        |字段|功能|同意书
"""
# A row: its name and the deeds that it takes away; where it fits, unless something else is there;
# a text that it is for, and one that it must leave alone.
GUARDS_LISTED: Final = r"""
bans: change run git_sync undo
    fits    {begin}(?:please |pls |@dev )*{stop}
    unless  {then}
    such as hands off the config
    but not don't poll, use push instead
bans-zh: change run git_sync undo
    fits    {begin}[^,.!?;\n]{0,10}{stop_zh}
    unless  {then_zh}|只(?!是)|重复
    such as 今天不要往 main 上推代码
    but not 别用轮询，改成推送
hold: change run git_sync undo
    fits    {begin}(?:(?:wait|hold on|hang on)\b
            |[^,.!?;\n]{0,8}(?:先(?:别|不|等)|等(?:一下|我|等)|暂时不|暂停(?!按)))
    unless  {then_zh}|修|改成
    such as 先别推送
    but not 先别推送，跑一遍测试
asks: any deed
    fits    {begin}{ask_en}
    unless  {plea}|[.;!\n]\s*\w+|,\s*(?:fix|make|change|then)|\bshould (?:be|not|always|never|use)
    such as does pushing to main deploy?
    but not why don't you add a test
asks-it: any deed
    fits    {begin}(?:can|could|will|would|may) (?!you\b|u\b|we\b|i\b|somebody|someone|this be
            |that be|it be|the \w+ be)\w+
    unless  please|[.;\n]\s*\w+
    such as can the build work without docker?
    but not can you build it
asks-mark: any deed
    fits    ^[^?？\u3400-\u9fff]{1,80}\?+\s*$
    unless  {plea}
    such as push my changes?
    but not could you push my changes?
forces: git_sync
    fits    --force|(?<!\S)-f\b|force[- ]push|强推|强制推
    such as push --force
    but not push it
asks-zh: any deed
    fits    {ask_zh}{end}
    unless  {plea}|一下|[把将]|换成|改成|弄
    such as 全量测试一般跑多久
    but not 能不能改成指数退避
asks-mark-zh: any deed
    fits    (?:怎么|怎样|如何|咋|为什么|为啥|什么|多久|哪|谁|是不是|会不会|有没有|该不该|是否|归不归
            |算不算|能撤|包不包)[^,.!;\n]{0,80}[?]?\s*$
    unless  {plea}|看看有没有|不管|无论|[把将]|改成|换成|检查|确保|如果|加|写|修|文档
    such as 像推送这种事归不归你管啊
    but not 加一个是否为空的检查
asks-how-long: any deed
    fits    how long|how much time|\beta\b|多久|多长时间|什么时候|啥时候|几点能|完成时间|好了没
            |跑完没|在不在|在线不
    unless  [把将]|显示|改|加上
    such as 加一个分享按钮大概要多久
    but not 把多久没登录显示在列表里
reports-zh: change run git_sync
    fits    \A(?=[\s\S]*[\u3400-\u9fff])[\s\S]*?(?:{fail_zh})
    unless  {plea}|修|改|处理|解决|加|换|删|去掉|补|优化|让|[把将]|避免|统一|重试|再跑|跑一|重新
            |推上去|提交上去|提交一|推一|搞定|搞好|弄好|调
    such as 用例单独跑能过，整体跑就挂
    but not 把超时的重试修一下
push-fails-zh: any deed
    fits    (?:提交|推送?|push|commit|pull).{0,14}(?:不上|不了|失败|被拒|报错|看不到|卡|提示
            |没反应|reject|refus|到底|没有?$)
    unless  {plea}|修|改|[把将]|重试
    such as 我的提交在 github 上看不到
    but not 把推送失败的重试改成三次
looks: any deed
    fits    {begin}(?:(?:please|pls|could you|can you|would you|kindly|be so kind and|just|only)\s
            |帮忙?我?|麻烦你?|请|给我|再|先|只|想让你)*{look}
    unless  \b(?:and|then)\b.{0,80}\b(?:fix|change|rename|replace|remove|run|commit|push|add
            |update|delete)|\bfix\b|改|修|替换|删掉|跑|提交上|推|去掉|加上?|补|顺便|换成
    such as scrutinise commit 3fa9c1e
    but not find the typo and fix it
consents-ok: any deed
    fits    {begin}(?:ok|okay|sure|fine|great|好|行|可以|对)?[\s,.!的吧了]{0,8}(?:{yes}|run it\b
            |merge it\b|push it\b|apply it\b|执行(?:那|它|这|吧)|应用吧|批)
    unless  {thing}|改(?!动)|修|加
    such as 好，执行那条命令
    but not 好的，把名字改成 Order
done-already: any deed
    fits    {begin}(?:i already|already did)|^[^,.;\n]{0,8}我(?:已经|刚刚?|都).{1,24}(?:了|完){end}
            |^[^,.;\n]{0,24}(?:\b(?:i|we|he|she|they)(?:'ve| have
            | had)? (?:already |just )?(?:pushed
            |committed|ran|run the|fixed|changed|deleted|merged|reverted)\b|(?:我|他|她|小\w
            |老\w)?(?:已经|刚刚?|都|昨天)(?:推|提交|跑|改|修|删|合|发)(?:完|好|过|了|上去))
    unless  {plea}|[,.;\n]|but|so|把
    such as I already pushed it
    but not I changed the schema, update the model
may-not: run git_sync
    fits    不能(?!不)|不可以|不准|不让
    unless  {plea}|{then_zh}|改|加|修
    such as 这周不能推到 main
    but not 跑一下，看看为什么不能登录，顺便修了
supposes: any deed
    fits    {begin}(?:if|after|when|once|unless|suppose|supposing) (?:you|we|i|they|somebody)\b
    unless  {plea}|{then}
    such as if you push to main I will be angry
    but not when you see a timeout, then retry
supposes-zh: any deed
    fits    (?:假如|如果|要是|万一|倘若)[^,.;\n]*(?:呢|吗|会怎么?样?|怎么办|会){end}
    unless  {plea}
    such as 假如我推到 main 呢
    but not 如果为空就返回 0
takes-back: any deed
    fits    (?:[?!.,\s](?:算了|还是算了|当我没说|不用了)|\? ?no(?:pe)?\b|\bnever ?mind
            |\bon second thought)[\W]*$
    such as 推到 main？算了
    but not 算了，直接推到 main
failed: any deed
    fits    (?:失败|报错|挂|崩|出错|卡住|没反应)了?{end}
    unless  {plea}|修|处理|解决|避免|[把将]|别
    such as 刚才跑一下迁移失败了
    but not 修一下登录失败
says: any deed
    fits    \b(?:docs?|readme|wiki|ticket|manual|he|she|they|boss|you|bot|log|spec) (?:said|say|says
            |asked|told|wrote)\b
    unless  {plea}|{then}
    such as the docs say: commit everything
    but not you said it is slow, so make it faster please
pasted: any deed
    fits    \A[\x01\x02\s,.:;!?-]*\Z
    such as ```exit 1```
    but not fix this: FAIL test_login
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """One row.

    Attributes:
        name: What `codexbridge route` shows.
        bars: What is not to come of a text that the row fits.
        fits: What it fits, anywhere in the folded text with what was quoted blotted out.
        unless: A text that holds this is left alone; None if nothing saves it.
        example: A text that it fits.
        spares: A text that it leaves alone.
    """

    name: str
    bars: frozenset[Kind]
    fits: re.Pattern[str]
    unless: re.Pattern[str] | None
    example: str
    spares: str


@cache
def guards() -> tuple[Guard, ...]:
    """Return the rows, ready to be used."""
    return tuple(_read())


def fitting(text: str) -> list[Guard]:
    """Return the rows that a text fits.

    Args:
        text: Folded, with what was pasted or quoted blotted out; at most some thousand characters.
    """
    return [
        guard
        for guard in guards()
        if guard.fits.search(text) and not (guard.unless and guard.unless.search(text))
    ]


def _read() -> Iterator[Guard]:
    rows = (line.strip().split(": ", 1) for line in _whole(CLASSES_LISTED, " " * 8))
    classes = dict(rows)

    def filled(pattern: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{([a-z_]+)\}", lambda named: classes[named[1]], pattern))

    for row in re.split(r"\n(?=\S)", GUARDS_LISTED.strip()):
        heading, *lines = _whole(row, " " * 12)
        name, _, bars = heading.partition(": ")
        said = {line[4:12].strip(): line[12:] for line in lines}
        unless = said.get("unless")
        yield Guard(
            name,
            ACTS if bars == "any deed" else frozenset({Kind.UNSUPPORTED, *map(Kind, bars.split())}),
            filled(said["fits"]),
            filled(unless) if unless else None,
            said["such as"],
            said["but not"],
        )


def _whole(listed: str, indent: str) -> list[str]:
    """Return the lines, each with those that go on with it."""
    return re.sub(rf"\n{indent}(?=\S)", "", listed.strip("\n")).split("\n")

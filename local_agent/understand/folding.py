"""A request as it is compared: look-alikes folded, what was pasted or quoted blotted out.

Each character is folded to one character, so a place in the folded text is the same place in the
text as written, which alone is stored, shown and run (R7).  Pure; linear in the length.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

READ_CHARS: Final = 2000  # of a text in which files, places and other wishes are looked for
PASTED: Final = "\x01"  # stands for each character of a log, a trace or a block of code
QUOTED: Final = "\x02"  # for each character of a quoted piece: it names something, and says nothing

# Traditional and simplified, pair by pair.
_HAN: Final = (
    "為为麼么這这個个們们請请幫帮煩烦勞劳嗎吗會会來来說说話话開开關关啟启動动執执運运測测試试編编譯译構构錯错誤误異异報报問问題题壞坏掛挂處处審审評评閱阅檢检變变實实現现寫写創创刪删"
    "換换優优調调設设權权讓让給给與与從从裡里裏里邊边見见覽览釋释講讲數数據据檔档遠远連连線线網网頁页鈕钮應应該该點点擊击沒没無无狀状態态進进還还過过時时間间後后誰谁樣样嘗尝貼贴圖图"
    "環环導导輸输轉转遷迁類类級级單单結结當当機机顯显隱隐復复鎖锁載载鍵键斷断電电腦脑傳传統统計计總总標标記记錄录屬属頭头條条項项細细節节證证認认準准許许絕绝駁驳發发佈布隊队驗验確确"
    "對对頓顿訊讯號号體体補补齊齐簡简縮缩擴扩減减並并幾几兩两尋寻東东專专劃划畫画幹干乾干裝装觀观規规則则側侧欄栏產产業业資资庫库夾夹匯汇儲储參参歸归併并訂订閉闭鏈链銷销滾滚嘍喽囉啰"
    "瞭了樓楼術术語语義义區区別别歷历曆历腳脚稱称離离務务員员戶户購购車车額额稅税捨舍徑径護护備备註注冊册遞递週周約约製制係系儘尽紀纪終终錶表鄰邻塊块鍾钟鐘钟僅仅貨货買买賣卖贏赢貓猫"
    "黃黄紅红綠绿藍蓝軟软雙双圍围聽听愛爱歡欢願愿億亿萬万嚴严獨独領领飛飞馬马駐驻簽签筆笔罷罢職职聯联聲声肅肃脫脱臨临舊旧舉举藝艺薦荐衛卫複复視视親亲觸触訓训託托訪访訴诉詢询詳详誌志"
    "課课諾诺謝谢譜谱議议讀读負负財财貝贝貪贪貢贡貫贯責责貴贵費费賬账賴赖趨趋跡迹蹤踪躍跃軌轨軸轴較较輔辅輛辆輪轮輯辑轟轰辦办農农迴回遊游達达違违遙遥適适遲迟遺遗邏逻郵邮鄉乡針针銀银"
    "銅铜鋪铺鏡镜鐵铁長长門门閃闪閒闲闆板闊阔陸陆陳陈陰阴階阶際际隨随險险隻只難难將将雜杂靈灵靜静響响頂顶順顺預预頑顽頗颇顏颜顧顾風风飄飘飯饭飲饮飾饰餘余館馆馳驰駕驾騎骑騙骗驅驱驚惊"
    "髮发鬆松鬧闹魚鱼鮮鲜鳥鸟鴻鸿齒齿選选擇择廢废棄弃贊赞價价寬宽陣阵滿满範范內内種种經经練练習习"
)
# Letters of other alphabets that look like Latin ones: who writes "d\u043en't" means "don't".
_ALIKE: Final = (
    "\u0430a\u0435e\u043eo\u0440p\u0441c\u0443y\u0445x\u0456i\u0458j\u0455s\u0501d\u04bbh\u051bq\u051dw"
    "\u0410a\u0412b\u0415e\u041ak\u041cm\u041dh\u041eo\u0420p\u0421c\u0422t\u0425x\u0406i\u0405s\u03bfo\u03b1a\u03bdv"
)
# Written, and not seen: zero-width characters, soft hyphens, marks of direction, blank letters;
# and the strokes through letters.
_UNSEEN: Final = re.compile(
    "[\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufeff\uffa0"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\U000e0000-\U000e0fff]+"
)
_QUOTE: Final = re.compile(
    # Each way begins with its mark, so that nothing is tried at other places.
    r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』"
    r"|‘[^‘’\n]{1,400}’|《[^《》\n]{1,400}》|'(?<![a-z0-9]')[^'\n]{2,400}'(?![a-z0-9])"
)
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# A line that a program wrote, by how it begins.
_OUTPUT: Final = re.compile(
    r"[$>|] ?\S|>>> |[+-]{1,3}\S|@@ |diff --git|traceback \(most|  +file \"|\s*at [\w$.<>/]+[ (:]"
    r"|\s*\^+~*\s*$|[=*_#-]{4,}|caused by: |\s*\.{3} \d+ more|npm err! |panic: |goroutine \d"
    r"|error\[e\d+\]|[ef] {2,}\S|(?:failed|passed|error) \S+::|[\w.]*\d{1,2}:\d{2}:\d{2}"
    r"|\[? ?\d{4}[-/]\d\d[-/]\d\d[t ]|\[\w{3,8}\]|\[ *\d+\.\d{3,}\]|(?:error|fatal|warning): \S"
    r"|[\w.$]*(?:error|exception)\b(?:: |\s*$)|exit (?:code|status) \d|segmentation fault"
    r"|-{3} (?:fail|pass): |(?:fail|ok|pass)\s*\t|\w{3} \d\d \d\d:\d\d:\d\d|==\d+=="
    r"|t-\w{4,5} [✓✗✔✘]"
    r"|(?:warn|error|fatal|info|debug|critical)(?: {1,4}\[| {2,4}\S|\s[\w.-]+(?: -|: ))"
    r"|level=\w+|php (?:fatal|warning|notice|parse)|make(?:\[\d\])?: \*\*\*|thread '[^']{1,40}' p"
    r"|hint: |remote: |(?:ba|z)?sh: \S+: |[\w./\\-]+\.\w{1,5}(?::\d+(?::\d+)?|\(\d+,\d+\)): "
    r"|#\d+ +0x|got \S+, want |\s*(?:got|want|expected|actual|received): +\S|unhandled "
    r"|uncaught |● |[✓✔✗✘✕×]|\s*\d+ (?:passing|failing|passed|failed)\b"
    r"|> task :|build (?:failed|successful)|tests?: +\d|(?:not )?ok \d+ |ran \d+ tests?"
    r"|collected \d+ items|plan: \d+ to add|\d+ files? changed"
    r"|(?:found|added) \d+ (?:error|warning|problem|package|vulnerabilit)"
    r"|[\w./-]+: line \d+: |[\w./-]+:\d+:\d+ - "
    r"|[a-f\d]{7,12} (?:feat|fix|chore|docs|refactor|merge|revert)\b"
    r"|(?:modified|deleted|new file): |(?:[mad]{1,2}|\?\?) {1,2}[\w-]*[./][\w./-]*$"
    r"|(?:alter|create|drop) table \S+ *(?:\(|[^\u3400-\u9fff]*;\s*$)"
)
# Of a single line without a colon, how output begins or ends.
_BEGINS: Final = ("$", ">", "[", "error", "traceback", "alter ", "create ", "drop ")
_ENDS: Final = ("error", "exception")
_CODE: Final = re.compile(
    r" *+(?:(?:const|let|var|def|class|func|fn|public|private|static|import|from|return|async"
    r"|export|#include|select|insert into|for ?\(|if ?\(|while ?\(|@\w)"
    r"[^\u3400-\u9fff?]*[;{}():=,\w]"
    r"|[^\u3400-\u9fff]*[;{}]|\s*\"[\w-]+\": .*,?"
    r"|[\w.\[\]]+ ?[+*-]?= ?[^\u3400-\u9fff=?]+|[\w.]+\([^\u3400-\u9fff?]*\)) *$"
)


def _folds() -> dict[int, str]:
    dressed = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00), *range(0x1D400, 0x1D800))
    plain = ((code, unicodedata.normalize("NFKD", chr(code))[0]) for code in dressed)
    folds = {code: chr(code) for code in range(0x80)}  # found is faster than not found
    folds |= {code: letter.lower() for code, letter in plain if letter.isascii()}
    folds |= {code: chr(code - 0xFEE0).lower() for code in range(0xFF01, 0xFF5F)}
    folds |= {code: chr(code + 32) for code in range(0x41, 0x5B)}
    folds |= {ord(old): new for old, new in zip(_HAN[::2], _HAN[1::2], strict=True)}
    folds |= {ord(old): new for old, new in zip(_ALIKE[::2], _ALIKE[1::2], strict=True)}
    folds |= dict.fromkeys(map(ord, "\u3000\u00a0\t\r\x0b\x0c\x85\u1680\u202f\u205f\u2800"), " ")
    folds |= dict.fromkeys((*range(0x2000, 0x200B), 0x2028, 0x2029), " ")
    folds |= dict.fromkeys(map(ord, "’´ʼʹ＇′"), "'")
    folds |= {ord("、"): ",", ord("。"): ".", ord("…"): ",", ord("—"): ",", ord("–"): ","}
    del folds[ord("｀")]
    return folds


_FOLDS: Final = _folds()


def fold(text: str) -> str:
    """Return the text folded, of the same length."""
    if text.isascii():  # much faster, and to the same effect
        return text.lower().replace("\t", " ").replace("\r", " ")
    return text.translate(_FOLDS)


def plain(text: str) -> str:
    """Return the beginning of a text, where targets are looked for, in ordinary letters."""
    return unicodedata.normalize("NFKC", text[:READ_CHARS])


def seen(text: str) -> str:
    """Return the text without what is written and not seen, which must not hide a word."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def blot(folded: str) -> str:
    """Return the folded text with what was pasted or quoted blotted out, of the same length."""
    if "```" in folded:
        folded = _FENCE.sub(lambda match: PASTED * len(match[0]), folded)
    many = "\n" in folded.strip()
    if many or ":" in folded or folded.startswith(_BEGINS) or folded.endswith(_ENDS):
        folded = "".join(_blot_line(line, many=many) for line in folded.splitlines(keepends=True))
    return _QUOTE.sub(lambda match: QUOTED * len(match[0]), folded)


def _blot_line(line: str, *, many: bool) -> str:
    said = line.rstrip("\n")  # a wish may stand on the next line
    if _OUTPUT.match(said) or (many and _CODE.fullmatch(said)):
        return PASTED * len(said) + line[len(said) :]
    return line

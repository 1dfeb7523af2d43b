"""A text as it is matched: case, full-width and traditional forms folded, what was pasted blotted.

Each character is folded to one character, so a place in the folded text is the same place in the
text as written, which alone is stored, shown and run (R7).  Pure; linear in the length.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

PASTED: Final = "\x01"  # stands for each character of a log, a trace or a block of code
QUOTED: Final = "\x02"  # for each character of a quoted piece: it names something, and says nothing

# Traditional and simplified, pair by pair: the characters of the lexicon, and no others.
_PAIRS: Final = (
    "為为麼么這这個个們们請请幫帮煩烦勞劳嗎吗會会來来說说話话開开關关啟启動动執执運运測测試试"
    "編编譯译構构建建錯错誤误異异報报問问題题壞坏掛挂處处審审評评閱阅檢检變变實实現现寫写創创"
    "刪删換换優优調调設设權权讓让給给與与從从裡里裏里邊边見见覽览釋释講讲解解數数據据檔档遠远"
    "連连線线網网頁页鈕钮應应該该點点擊击沒没無无狀状態态進进還还過过時时間间後后誰谁樣样嘗尝"
    "貼贴圖图環环導导輸输轉转遷迁類类級级單单結结當当機机顯显隱隐復复鎖锁載载鍵键斷断電电腦脑"
    "傳传統统計计總总標标記记錄录屬属頭头條条項项細细節节證证認认準准許许絕绝駁驳發发佈布隊队"
    "驗验確确對对頓顿訊讯號号體体補补齊齐簡简縮缩擴扩減减並并幾几兩两搜搜尋寻東东專专劃划畫画"
    "幹干乾干裝装窗窗觀观規规則则側侧欄栏產产業业資资料料庫库夾夹匯汇儲储專专變变參参歸归併并"
    "訂订閉闭鏈链銷销滾滚啊啊嘍喽囉啰瞭了瞧瞧樓楼術术語语義义區区別别歷历曆历誰谁腳脚稱称離离"
    "務务員员戶户購购車车額额稅税捨舍徑径護护備备註注冊册遞递週周約约製制係系儘尽紀纪結结終终錶表鄰邻塊块鍾钟鐘钟僅仅貨货買买賣卖贏赢貓猫黃黄紅红綠绿藍蓝軟软硬硬雙双圍围聽听睡睡愛爱歡欢願愿億亿萬万嚴严獨独環环節节領领飛飞馬马駐驻簽签筆笔筋筋網网罷罢義义職职聯联聲声肅肃脫脱臨临與与舊旧舉举藝艺薦荐處处號号術术衛卫補补裝装複复見见視视親亲觸触訓训託托記记訪访設设許许訴诉詢询詳详認认語语誌志課课諾诺謝谢譜谱譯译議议讀读變变負负財财貝贝貪贪貢贡貫贯責责貴贵費费賬账賴赖趨趋跡迹蹤踪躍跃軌轨軸轴較较載载輔辅輛辆輪轮輯辑輸输轟轰辦办農农迴回連连週周遊游運运過过達达違违遙遥遞递適适遲迟遺遗邏逻郵邮鄉乡針针鈕钮銀银銅铜錄录鋪铺鍵键鎖锁鏡镜鐵铁長长門门閃闪閉闭開开閒闲間间閱阅闆板闊阔關关陸陆陳陈陰阴隊队階阶際际隨随險险隱隐隻只難难將将雜杂離离電电靈灵靜静響响頁页頂顶項项順顺預预頑顽頓顿頗颇領领頭头題题額额顏颜願愿顧顾顯显風风飄飘飯饭飲饮飾饰餘余館馆馳驰駕驾騎骑騙骗驅驱驗验驚惊體体髮发鬆松鬧闹魚鱼鮮鲜鳥鸟鴻鸿點点齊齐齒齿"
    "選选擇择廢废棄弃贊赞議议價价長长寬宽邏逻輯辑圍围適适陣阵滿满範范內内個个種种經经練练習习"
)
# Letters of other alphabets that look like Latin ones: who writes "d\u043en't" means "don't".
_ALIKE: Final = (
    "\u0430a\u0435e\u043eo\u0440p\u0441c\u0443y\u0445x\u0456i\u0458j\u0455s\u0501d\u04bbh\u051bq\u051dw"
    "\u0410a\u0412b\u0415e\u041ak\u041cm\u041dh\u041eo\u0420p\u0421c\u0422t\u0425x\u0406i\u0405s\u03bfo\u03b1a\u03bdv"
)
# Written, and not seen: zero-width characters, soft hyphens, marks of direction, blank letters;
# and the strokes through letters.
_UNSEEN: Final = re.compile(
    "[\xad\u034f\u0334-\u0338\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufeff\uffa0"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\U000e0000-\U000e0fff]+"
)
_ERROR_LINE: Final = re.compile(
    r"\$ \S|> \S|traceback \(most recent|  +file \"|\s*at [\w$.<>/]+[ (]|\s*\^+\s*$|caused by: "
    r"|npm err! "
    r"|panic: |goroutine \d|error\[e\d+\]|e {3,}\S|failed \S+::|[\w.]*\d{2}:\d{2}:\d{2}"
    r"|\d{4}-\d\d-\d\d[t ]\d\d:|\[(?:error|warn|warning|fatal|info|debug)\]|(?:error|fatal): \S"
    r"|[\w.$]*(?:error|exception)\b(?:: |\s*$)|exit (?:code|status) \d|segmentation fault"
    r"|==\d+==\s?error|-{3} fail: |fail\t|fail {2,}\S|[a-z]{3} \d\d \d\d:\d\d:\d\d"
    r"|\[ *\d+\.\d{3,}\]"
    r"|(?:warn|error|fatal|info|debug|critical) {1,4}(?:\[|[\w.-]+(?: -|:|\]) )"
    r"|level=(?:error|warn|fatal)"
    r"|php (?:fatal|warning|notice|parse)|make(?:\[\d\])?: \*\*\*|thread '[^']{1,40}' panicked"
    r"|hint: "
    r"|remote: |(?:ba|z)?sh: \S+: |[\w./-]+\.\w{1,5}:\d+(?::\d+)?: |#\d+ +0x|bug: k|e/\w+|\*{3} \S"
    r"|got \S+, want |(?:got|want|expected|actual|received): \S|unhandled |uncaught "
)
_CODE_LINE: Final = re.compile(
    r" *(?:(?:const|let|var|def|class|func|fn|public|private|static|import|from|return|async|export"
    r"|#include|select|insert into|for ?\(|if ?\(|while ?\(|@\w)"
    r"[^\u3400-\u9fff?]*[;{}():=,\w]"
    r"|[^\u3400-\u9fff]*[;{}]"
    r"|[\w.\[\]]+ ?[+*-]?= ?[^\u3400-\u9fff=?]+|[\w.]+\([^\u3400-\u9fff?]*\)) *$"
)
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTE: Final = re.compile(
    # Each way begins with its mark, so that nothing is tried at other places.
    r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』"
    r"|'(?<![a-z0-9]')[^'\n]{2,400}'(?![a-z0-9])"
)


def _dressed() -> dict[int, str]:
    """Return what Latin letters are without their accents, and without the shapes of formulas."""
    dressed = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00), *range(0x1D400, 0x1D800))
    plain = ((code, unicodedata.normalize("NFKD", chr(code))[0]) for code in dressed)
    return {code: letter.lower() for code, letter in plain if letter.isascii()}


def _folds() -> dict[int, str]:
    folds = {code: chr(code - 0xFEE0).lower() for code in range(0xFF01, 0xFF5F)}
    folds |= {code: chr(code + 32) for code in range(0x41, 0x5B)}
    folds |= {ord(old): new for old, new in zip(_PAIRS[::2], _PAIRS[1::2], strict=True)}
    folds |= {ord(old): new for old, new in zip(_ALIKE[::2], _ALIKE[1::2], strict=True)}
    folds |= _dressed()
    folds |= dict.fromkeys(map(ord, "\u3000\u00a0\t\r\x0b\x0c\x85\u1680\u202f\u205f\u2800"), " ")
    folds |= dict.fromkeys((*range(0x2000, 0x200B), 0x2028, 0x2029), " ")
    folds |= dict.fromkeys(map(ord, "‘’`´ʼʹ＇′"), "'")
    folds |= {ord("、"): ",", ord("。"): "!", ord("…"): ",", ord("—"): ",", ord("–"): ","}
    del folds[ord("`")]
    return folds


_FOLDS: Final = _folds()


def fold(text: str) -> str:
    """Return the text folded, of the same length."""
    if text.isascii():  # much faster, and to the same effect
        folded = text.lower().replace("\t", " ").replace("\r", " ")
    else:
        folded = text.translate(_FOLDS)
    return folded.replace("n`t", "n't")


def seen(text: str) -> str:
    """Return the text without what is written and not seen, which must not hide a word."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def blot(folded: str) -> str:
    """Return the folded text with what was pasted or quoted blotted out, of the same length."""
    if "```" in folded:
        folded = _FENCE.sub(_pasted, folded)
    if "\n" in folded or "error" in folded or "exception" in folded or ":" in folded:
        lines = map(_blot_line, folded.splitlines(keepends=True))
        folded = "".join(map(_blot_code, lines) if "\n" in folded.strip() else lines)
    return _QUOTE.sub(lambda match: QUOTED * len(match[0]), folded)


def _pasted(match: re.Match[str]) -> str:
    return PASTED * len(match[0])


def _blot_line(line: str) -> str:
    said = line.rstrip("\n")  # a wish may stand on the next line
    return PASTED * len(said) + line[len(said) :] if _ERROR_LINE.match(line) else line


def _blot_code(line: str) -> str:
    said = line.rstrip("\n")
    return QUOTED * len(said) + line[len(said) :] if _CODE_LINE.fullmatch(said) else line

"""Why a file or folder of a workspace is not shown on the local page."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ERRORS: Final = {
    "files.no-workspace": Sentence(
        en="The folder of the workspace {name} is no longer there.",
        zh="工作区 {name} 的文件夹已不存在。",
    ),
    "files.name": Sentence(
        en="“{path}” is not a path within the workspace: no .., no leading /, no hidden "
        "characters, and not too long.",
        zh="“{path}”不是工作区内的路径：不能含 ..、不能以 / 开头、不能含不可见字符，也不能过长。",
    ),
    "files.denied": Sentence(
        en="{path} is not shown: the workspace's settings keep it out, or its name is that of a "
        "secret or of git's own files.",
        zh="不显示 {path}：工作区设置不允许读取，或其名称属于机密文件或 git 自身的文件。",
    ),
    "files.missing": Sentence(
        en="{path} is not there. Look at its folder again.",
        zh="{path} 不存在。请重新查看其文件夹。",
    ),
    "files.link": Sentence(
        en="{path} is a symbolic link, or lies behind one; links are never followed.",
        zh="{path} 是符号链接或位于符号链接之后；绝不跟随链接。",
    ),
    "files.not-a-folder": Sentence(en="{path} is not a folder.", zh="{path} 不是文件夹。"),
    "files.not-regular": Sentence(
        en="{path} is not an ordinary file, so it is not opened.",
        zh="{path} 不是普通文件，因此不会打开。",
    ),
    "files.unreadable": Sentence(
        en="{path} cannot be read: this user may not, or it was changed at this moment. Try again.",
        zh="无法读取 {path}：当前用户无权读取，或它刚刚有变动。请重试。",
    ),
    "files.line": Sentence(en="Lines are counted from 1.", zh="行号从 1 开始。"),
    "files.cursor": Sentence(
        en="This is not where a page of the folder begins. Open the folder again.",
        zh="这不是文件夹列表的分页位置。请重新打开该文件夹。",
    ),
    "files.not-an-image": Sentence(
        en="{path} is not a PNG, JPEG, GIF or WebP image.",
        zh="{path} 不是 PNG、JPEG、GIF 或 WebP 图片。",
    ),
    "files.image-too-large": Sentence(
        en="The image {path} is larger than {limit} bytes, so it is not shown.",
        zh="图片 {path} 超过 {limit} 字节，因此不显示。",
    ),
}

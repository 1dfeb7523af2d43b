"""What a new playbook begins with: a file with comments, which the parser takes as it is.  Pure."""

from __future__ import annotations

from typing import Final

from common.errors import InputError
from common.sentences import Lang, Sentence, say
from local_agent.playbooks.definition import NAME


def new_playbook(name: str, lang: Lang = "en") -> str:
    """Return the text of a new playbook.

    Raises:
        InputError: ``playbook.name`` (given).
    """
    if not NAME.fullmatch(name):
        raise InputError("playbook.name", given=name)
    return say(_TEMPLATE, lang, name=name, message="{message}", line="{changes.result.branch}")


_TEMPLATE: Final = Sentence(
    en="""\
---
# What it is called; the same as the file, without .md.
name: "{name}"

# Messages that ask for it: @dev with one of these phrases.
# trigger_keywords:
#   - tidy up

# low, medium, high or critical.  With high or critical every change is asked about by itself.
risk_level: medium

# Playbooks of tool steps, in hooks/ beside this file: before the steps, and after them.
# hooks:
#   pre: check-branch

steps:
  # A tool step calls a tool.  Those that only read are called at once:
  # read_file, list_files, search, git_status, git_log, git_diff, propose_change.
  - name: changes
    type: tool
    tool: git_status

  # An agent step asks the model.  What you wrote, message in braces, and a path such as
  # changes.result.branch in braces are replaced by their values.
  - name: summary
    type: agent
    message_template: |
      The branch is {line}. Write down in a few lines what is asked for: {message}

  # A gate asks a person.  It covers the changes that follow, up to the next gate or agent step, as
  # far as they are known when it asks; every other change is asked about by itself.
  - name: confirm
    type: gate
    # PATH, PATH == VALUE or PATH != VALUE.  Where it does not hold, the step is skipped.
    condition: changes.result.branch != main
    message_template: Write the summary to NOTES.md?

  # write_file, apply_diff and run_command change something, so a person approves them.
  - name: write
    type: tool
    tool: write_file
    args:
      path: NOTES.md
    # Arguments that an earlier step gives.
    args_from:
      content: summary.result.text
---
For people: what this playbook does, and when to use it.
""",
    zh="""\
---
# 名称；与文件名（不含 .md）相同。
name: "{name}"

# 触发短语：发送 @dev 加其中一个短语即可运行。
# trigger_keywords:
#   - 整理一下

# low、medium、high 或 critical。high 和 critical 时每处改动单独询问。
risk_level: medium

# 钩子：只含 tool 步骤的剧本，放在本文件旁边的 hooks/ 中，在步骤之前或之后运行。
# hooks:
#   pre: check-branch

steps:
  # tool 步骤调用工具。只读的工具直接运行：
  # read_file、list_files、search、git_status、git_log、git_diff、propose_change。
  - name: changes
    type: tool
    tool: git_status

  # agent 步骤询问模型。花括号中的 message 是你发送的内容；花括号中的路径
  # （例如 changes.result.branch）替换为该步骤的结果。
  - name: summary
    type: agent
    message_template: |
      当前分支是 {line}。用几行写下要做的事：{message}

  # 审批点（gate）询问审批人。它涵盖后面的改动，直到下一个 gate 或 agent 步骤，
  # 以询问时已确定的为限；其他改动单独询问。
  - name: confirm
    type: gate
    # 写成“路径”、“路径 == 值”或“路径 != 值”；不成立时跳过该步骤。
    condition: changes.result.branch != main
    message_template: 把摘要写入 NOTES.md？

  # write_file、apply_diff 和 run_command 会改动内容，因此需要批准。
  - name: write
    type: tool
    tool: write_file
    args:
      path: NOTES.md
    # 由前面的步骤给出的参数。
    args_from:
      content: summary.result.text
---
写给人看：这个剧本做什么，什么时候用。
""",
)

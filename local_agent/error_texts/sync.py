"""Why a commit or push is not done."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ERRORS: Final[dict[str, Sentence]] = {
    "sync.nothing-to-do": Sentence(
        en="Nothing has changed since the last commit, and everything is pushed already.",
        zh="自上次提交后没有改动，且所有提交都已推送。",
    ),
    "sync.no-repository": Sentence(
        en="The workspace is not a git repository.", zh="该工作区不是 git 仓库。"
    ),
    "sync.begins-above": Sentence(
        en="The repository begins in a folder above the workspace, so nothing is committed or "
        "pushed here. Use git at the machine, or add that folder as the workspace.",
        zh="仓库从工作区的上级文件夹开始，因此不在此提交或推送。请在开发机上使用 git，"
        "或把该文件夹添加为工作区。",
    ),
    "sync.linked": Sentence(
        en="The repository of this workspace lies in another folder (a linked work tree or a "
        "submodule). Push there, or by hand.",
        zh="该工作区的仓库位于其他文件夹（链接的工作树或子模块）。请在那里推送，或手动推送。",
    ),
    "sync.repository": Sentence(
        en="The repository is of a form that is not handled here. Use git at the machine.",
        zh="无法处理这种形式的仓库。请在开发机上使用 git。",
    ),
    "sync.alternates": Sentence(
        en="The repository borrows objects from another folder, so more could be sent than you "
        "see. Make it stand alone (git repack -a -d, remove .git/objects/info/alternates), or push "
        "by hand.",
        zh="该仓库借用另一文件夹中的对象，发送的内容可能多于你所见。请使其独立（git repack -a -d，"
        "再删除 .git/objects/info/alternates），或手动推送。",
    ),
    "sync.sparse": Sentence(
        en="The work tree is sparse. Use git at the machine.",
        zh="该工作树为稀疏检出。请在开发机上使用 git。",
    ),
    "sync.detached": Sentence(
        en="No branch is checked out. At the machine: `git switch BRANCH`.",
        zh="当前不在任何分支上。请在开发机上运行：`git switch 分支`。",
    ),
    "sync.in-progress": Sentence(
        en="git is in the middle of something ({what}). Finish or abort it first.",
        zh="git 正在进行其他操作（{what}）。请先完成或中止。",
    ),
    "sync.conflict": Sentence(
        en="“{path}” has a conflict. Resolve it first.", zh="“{path}”存在冲突。请先解决。"
    ),
    "sync.partly-staged": Sentence(
        en="Of “{path}” another version is staged than lies there now. Stage all of it, or "
        "unstage it.",
        zh="“{path}”已暂存的版本与当前内容不同。请全部暂存，或取消暂存。",
    ),
    "sync.submodule": Sentence(
        en="“{path}” is a submodule or a repository of its own. Commit that by hand.",
        zh="“{path}”是子模块或独立的仓库。请手动提交。",
    ),
    "sync.link": Sentence(
        en="“{path}” is or was a symbolic link, or cannot be opened. Commit that by hand.",
        zh="“{path}”是（或曾是）符号链接，或无法打开。请手动提交。",
    ),
    "sync.file": Sentence(
        en="“{path}” is not an ordinary file, or cannot be read.",
        zh="“{path}”不是普通文件，或无法读取。",
    ),
    "sync.secret": Sentence(
        en="“{path}” looks like a secret, or is on the deny list. Commit it by hand, or ignore it "
        "in .gitignore.",
        zh="“{path}”可能含有机密，或在禁读列表中。请手动提交，或在 .gitignore 中忽略。",
    ),
    "sync.converted": Sentence(
        en="git would convert “{path}” before committing it (filter, LFS, line ends or encoding). "
        "Commit that by hand.",
        zh="git 在提交“{path}”前会转换其内容（过滤器、LFS、换行符或编码）。请手动提交。",
    ),
    "sync.name": Sentence(
        en="The name “{path}” holds characters that cannot be shown safely.",
        zh="文件名“{path}”含有无法安全显示的字符。",
    ),
    "sync.too-large": Sentence(
        en="With “{path}” there is more than {limit} bytes to be read. Commit that by hand.",
        zh="加上“{path}”，需要读取的内容超过 {limit} 字节。请手动提交。",
    ),
    "sync.too-many": Sentence(
        en="More than {limit} files have changed. Commit them by hand.",
        zh="改动的文件超过 {limit} 个。请手动提交。",
    ),
    "sync.no-upstream": Sentence(
        # Without its name: that is the repository's word, and a shell would run what is in it.
        en="The branch that is checked out has no upstream. At the machine, once: "
        "`git push -u origin HEAD`; where there is no remote yet, first "
        "`git remote add origin URL`.",
        zh="当前分支没有上游分支。请在开发机上运行一次：`git push -u origin HEAD`；"
        "还没有远端时，请先运行 `git remote add origin 地址`。",
    ),
    "sync.remote": Sentence(
        en="The remote “{name}” has several URLs, or a name that is not handled here.",
        zh="远端“{name}”有多个地址，或名称无法处理。",
    ),
    "sync.url": Sentence(
        en="The address of the remote is of a form that is not pushed to from here.",
        zh="远端地址的形式不受支持，无法从这里推送。",
    ),
    "sync.url/password": Sentence(
        en="The address of the remote holds a password or token. Take it out (`git remote "
        "set-url`), and let a credential helper keep it.",
        zh="远端地址中含有密码或令牌。请将其移除（`git remote set-url`），"
        "改由凭据助手（credential helper）保存。",
    ),
    "sync.url/plain-http": Sentence(
        en="The address of the remote is http:// and would carry the login unencrypted. Use "
        "https or ssh.",
        zh="远端地址为 http://，登录信息将以明文传输。请改用 https 或 ssh。",
    ),
    "sync.url/relative": Sentence(
        en="The address of the remote is a relative path. Give an absolute one.",
        zh="远端地址是相对路径。请使用绝对路径。",
    ),
    "sync.url/transport": Sentence(
        en="The address of the remote names another transport than https, ssh or a local path.",
        zh="远端地址使用了 https、ssh、本地路径以外的传输方式。",
    ),
    "sync.url/inside": Sentence(
        en="The remote lies in the workspace itself.", zh="远端位于工作区内部。"
    ),
    "sync.url/rewritten": Sentence(
        en="Your git configuration rewrites the address of the remote twice (url.….insteadOf).",
        zh="你的 git 配置会两次改写远端地址（url.….insteadOf）。",
    ),
    "sync.no-author": Sentence(
        en="Your name or mail address is not set for git. At the machine: `git config --global "
        'user.name "NAME"` and `git config --global user.email MAIL`.',
        zh='git 中未设置你的姓名或邮箱。请在开发机上运行：`git config --global user.name "姓名"` '
        "和 `git config --global user.email 邮箱`。",
    ),
    "sync.message": Sentence(
        en="The commit message must be one plain line of at most {limit} bytes.",
        zh="提交说明须为一行普通文字，且不超过 {limit} 字节。",
    ),
    "sync.behind": Sentence(
        en="The upstream has {count} {count:commit|commits} that the branch does not have. Pull "
        "first.",
        zh="上游分支有 {count} 个本地没有的提交。请先拉取（pull）。",
    ),
    "sync.no-git": Sentence(
        en="The program git is not installed in the system's folders.",
        zh="系统目录中没有安装 git 程序。",
    ),
    "sync.moved": Sentence(
        en="The branch was moved by someone else meanwhile.", zh="分支同时被其他操作移动了。"
    ),
    "sync.locked": Sentence(
        en="Another program is writing in the repository, or has left a lock (.git/**/*.lock). Try "
        "again.",
        zh="其他程序正在写入仓库，或遗留了锁文件（.git/**/*.lock）。请重试。",
    ),
    "sync.rejected": Sentence(
        en="The remote has commits that this machine does not know. Pull, then ask again.",
        zh="远端有本机没有的提交。请先拉取（pull），再重新提出。",
    ),
    "sync.declined": Sentence(
        en="The remote does not accept it, as for a protected branch.",
        zh="远端不接受此次推送，例如分支受保护。",
    ),
    "sync.auth": Sentence(
        en="The remote did not accept this machine's login. Push once by hand, so that git's "
        "credential helper or the ssh agent knows it.",
        zh="远端未接受本机的登录。请先手动推送一次，让 git 凭据助手或 ssh agent 记住登录。",
    ),
    "sync.host-key": Sentence(
        en="The host's ssh key is not known on this machine, or has changed. Connect once by hand.",
        zh="本机不认识该主机的 ssh 密钥，或密钥已改变。请先手动连接一次。",
    ),
    "sync.redirected": Sentence(
        en="The remote has moved to another address. Set the new one (`git remote set-url`).",
        zh="远端已迁移到其他地址。请设置新地址（`git remote set-url`）。",
    ),
    "sync.not-found": Sentence(
        en="There is no such repository at the remote, or it is not shown to this login.",
        zh="远端没有该仓库，或当前登录无权查看。",
    ),
    "sync.unreachable": Sentence(
        en="The remote cannot be reached from this machine.", zh="本机无法连接到远端。"
    ),
    "sync.timeout": Sentence(
        en="The push was ended at its time limit. Look at the remote.",
        zh="推送超时，已被终止。请查看远端。",
    ),
    "sync.cancelled": Sentence(en="It was cancelled.", zh="已被取消。"),
    "sync.failed": Sentence(
        en="git did not say what came of it. Look at the machine and at the remote.",
        zh="git 没有说明结果。请查看开发机和远端。",
    ),
    "sync.drifted": Sentence(
        en="Something has changed since the approval.", zh="批准之后内容有变化。"
    ),
    "sync.interrupted": Sentence(
        en="It was interrupted; it is not done again by itself. Look at the machine and at the "
        "remote.",
        zh="操作被中断，不会自动重新进行。请查看开发机和远端。",
    ),
    "sync.not-begun": Sentence(
        en="It was interrupted before it had committed anything.", zh="操作在提交之前被中断。"
    ),
}

"""``codexbridge completion``: a script by which bash, zsh or fish completes what is typed.

It is made from the launcher's table of commands and their parsers, so that it offers what there is.
All of it stands in the script: nothing of ours runs while somebody types.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import codexbridge
from common.sentences import Lang, Sentence, say

COMPLETION: Final = Sentence(
    en="Print a script that completes commands and options in a shell. For bash, write it to "
    "~/.local/share/bash-completion/completions/codexbridge; for zsh, to a file _codexbridge in a "
    "folder of $fpath; for fish, to ~/.config/fish/completions/codexbridge.fish. Write it again "
    "after an upgrade.",
    zh="输出在 shell 中补全命令与选项的脚本。bash：写入 "
    "~/.local/share/bash-completion/completions/codexbridge；zsh：写入 $fpath 某个目录下的文件 "
    "_codexbridge；fish：写入 ~/.config/fish/completions/codexbridge.fish。升级后请重新写入。",
)
SHELL: Final = Sentence(en="whose script", zh="哪种 shell 的脚本")
THIS_HELP: Final = Sentence(en="list the commands", zh="列出命令")
VERSION: Final = Sentence(en="print the version", zh="显示版本")

_BASH_FILES: Final = "compopt -o default 2>/dev/null"  # bash 3 has none: no names of files there
_FILES: Final = re.compile(r"\b(?:FILE|PATH|DIR)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option.

    Attributes:
        about: What it does, on one line.
        takes_value: Whether a value follows it.
        choices: The values that there are; empty where any will do.
        files: Whether its value is the name of a file.
    """

    name: str
    about: str
    takes_value: bool = False
    choices: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What can follow some words of a command.

    Attributes:
        path: Those words, each after a slash; empty after ``codexbridge`` itself.
        words: What can come next, with what it does.
        files: Whether the name of a file can come next.
    """

    path: str
    words: Mapping[str, str]
    options: tuple[Option, ...]
    files: bool = False


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("completion", description=say(COMPLETION, lang))
    parser.set_defaults(run=run)
    parser.add_argument(
        "shell", choices=tuple(_SCRIPTS), metavar="|".join(_SCRIPTS), help=say(SHELL, lang)
    )


def run(args: argparse.Namespace, lang: Lang, _environ: Mapping[str, str]) -> int:
    """Print the script."""
    print("\n".join(_SCRIPTS[args.shell](list(places(lang)))))
    return 0


def places(lang: Lang) -> Iterator[Place]:
    """Give every place of the command line."""
    yield Place(
        path="",
        words={command.name: getattr(command, lang) for command in codexbridge.COMMANDS.values()},
        options=(
            Option(name="--help", about=say(THIS_HELP, lang)),
            Option(name="--version", about=say(VERSION, lang)),
        ),
    )
    for name, parser in codexbridge.new_parsers(lang).items():
        yield from _below(f"/{name}", parser)


def _below(path: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    words: dict[str, str] = {}
    options, files, inner = [], False, []
    for action in parser._actions:  # noqa: SLF001 - argparse tells of them nowhere else
        about = " ".join((action.help or "").split())
        choices = tuple(map(str, action.choices or ()))
        of_files = bool(_FILES.search(str(action.metavar)))
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - same
            words |= {one.dest: one.help or "" for one in action._choices_actions}  # noqa: SLF001 - same
            inner += [_below(f"{path}/{name}", child) for name, child in action.choices.items()]
        elif action.option_strings:
            option = Option(
                name=next(one for one in action.option_strings if one.startswith("--")),
                about=about,
                takes_value=action.nargs != 0,
                choices=choices,
                files=of_files,
            )
            options.append(option)
        else:
            words |= dict.fromkeys(choices, about)
            files = files or of_files
    yield Place(path=path, words=words, options=tuple(options), files=files)
    for one in inner:
        yield from one


# -- the scripts -----------------------------------------------------------------------------------


def _bash(found: list[Place]) -> Iterator[str]:
    yield "_codexbridge() {"
    yield "    local at= word offered= switches= cur=${COMP_WORDS[COMP_CWORD]}"
    yield "    COMPREPLY=()"
    yield '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield f"        case $at/$word in {_paths(found)}) at=$at/$word ;; esac"
    yield "    done"
    yield "    case $at:${COMP_WORDS[COMP_CWORD-1]} in"
    for option, where in _values(found):
        values = f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur"))'
        done = values if option.choices else _BASH_FILES if option.files else ":"
        yield f"        {where}) {done}; return ;;"
    yield "    esac"
    yield "    case $at in"
    for place in found:
        switches = " ".join(option.name for option in place.options)
        files = f"; {_BASH_FILES}" if place.files else ""
        words = " ".join(place.words)
        yield f'        "{place.path}") offered="{words}"; switches="{switches}"{files} ;;'
    yield "    esac"
    yield "    [[ $cur == -* ]] && offered=$switches"
    yield '    COMPREPLY=($(compgen -W "$offered" -- "$cur"))'
    yield "}"
    yield "complete -F _codexbridge codexbridge"


def _zsh(found: list[Place]) -> Iterator[str]:
    yield "#compdef codexbridge"
    yield "_codexbridge() {"
    yield "    local at= word files="
    yield "    local -a offered switches"
    yield "    for word in ${words[2,CURRENT-1]}; do"
    yield f"        case $at/$word in ({_paths(found)}) at=$at/$word ;; esac"
    yield "    done"
    yield "    case $at:${words[CURRENT-1]} in"
    for option, where in _values(found):
        values = f"compadd -- {' '.join(option.choices)}"
        done = values if option.choices else "_files" if option.files else ":"
        yield f"        ({where}) {done}; return ;;"
    yield "    esac"
    yield "    case $at in"
    for place in found:
        words = " ".join(_quoted(f"{word}:{about}") for word, about in place.words.items())
        named = " ".join(_quoted(f"{one.name}:{one.about}") for one in place.options)
        files = "; files=1" if place.files else ""
        yield f'        ("{place.path}") offered=({words}); switches=({named}){files} ;;'
    yield "    esac"
    yield "    (( $#offered )) && _describe argument offered"
    yield "    [[ $PREFIX == -* ]] && _describe -o option switches"
    yield "    [[ -n $files ]] && _files"
    yield "}"
    # Autoloaded from $fpath this is the body of the function; sourced, it only declares it.
    yield 'if [[ $funcstack[1] == _codexbridge ]]; then _codexbridge "$@"'
    yield "else compdef _codexbridge codexbridge; fi"


def _fish(found: list[Place]) -> Iterator[str]:
    yield "function __codexbridge_at"
    yield "    set -l at ''"
    yield "    for word in (commandline -opc)"
    yield "        switch $at/$word"
    yield f"            case {_paths(found).replace('|', ' ')}"
    yield "                set at $at/$word"
    yield "        end"
    yield "    end"
    yield '    test "$at" = "$argv[1]"'
    yield "end"
    yield "complete -c codexbridge -f"
    for place in found:
        start = f"complete -c codexbridge -n '__codexbridge_at \"{place.path}\"'"
        for word, about in place.words.items():
            yield f"{start} -a {word} -d {_quoted(about, fish=True)}"
        if place.files:
            yield f"{start} -F"
        for option in place.options:
            value = ""
            if option.choices:
                value = f" -x -a '{' '.join(option.choices)}'"
            elif option.takes_value:
                value = " -r -F" if option.files else " -x"
            about = _quoted(option.about, fish=True)
            yield f"{start} -l {option.name.removeprefix('--')}{value} -d {about}"


_SCRIPTS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _paths(found: Iterable[Place]) -> str:
    return "|".join(place.path for place in found if place.path)


def _values(found: Iterable[Place]) -> Iterator[tuple[Option, str]]:
    """Give what takes a value and where it stands, those with the same values together."""
    alike: dict[tuple[tuple[str, ...], bool], tuple[Option, list[str]]] = {}
    for place in found:
        for option in place.options:
            if option.takes_value:
                _, where = alike.setdefault((option.choices, option.files), (option, []))
                where.append(f"{place.path}:{option.name}")
    for option, where in alike.values():
        yield option, "|".join(where)


def _quoted(text: str, *, fish: bool = False) -> str:
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"

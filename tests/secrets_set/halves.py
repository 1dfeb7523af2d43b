"""Both halves of the set: the one by which the rules were written, and the one held back."""

from __future__ import annotations

from functools import cache

from tests.secrets_set import formats, held_back, settings
from tests.secrets_set.making import Case, cases


@cache
def secrets(*, held: bool = False) -> tuple[Case, ...]:
    """Return every secret of one half in every setting that can tell it."""
    return tuple(
        cases(
            held_back.FORMATS if held else formats.FORMATS,
            alone=settings.ALONE_HELD_BACK if held else settings.ALONE,
            under_a_name=settings.NAMED_HELD_BACK if held else settings.NAMED,
            split=settings.SPLIT_HELD_BACK if held else settings.SPLIT,
            seed=2 if held else 1,
        )
    )

"""Channels: one folder each, which makes a `Channel`, and one row each in `registry`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from gateway.base.messages import Accept, Deliver


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel, as ``open_channel`` of its folder returns it.

    Attributes:
        name: Kept with every task and every message on its way: it never changes.
        deliver: Sends into conversations of this channel.
        routes: Returns what it answers on the gateway's own listener, once it knows where to hand
            messages to.
    """

    name: str
    deliver: Deliver
    routes: Callable[[Accept], Sequence[web.RouteDef]]

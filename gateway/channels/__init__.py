"""Every channel of the gateway, one folder and one row each, behind one way in and one way out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import aiohttp
from aiohttp import web

from common.clock import Clock
from common.logs import Log
from gateway.base.messages import Accept, Channel, Conversation, Note, Outgoing, SendOutcome
from gateway.base.settings import GatewaySettings
from gateway.channels import wecom_app

_OPENERS: Final = (wecom_app.open_channel,)
ADMINS: Final = wecom_app.NAME  # where the admins of the settings are written to


class Channels:
    """The open channels."""

    def __init__(self, channels: Iterable[Channel]) -> None:
        self._channels = {channel.name: channel for channel in channels}

    def routes(self, accept: Accept, note: Note) -> list[web.RouteDef]:
        """Return what all answer; messages go to ``accept``, what cannot be read to ``note``."""
        channels = self._channels.values()
        return [route for channel in channels for route in channel.routes(accept, note)]

    async def renew(self, settings: GatewaySettings) -> None:
        """Have all take up the secrets of the settings.

        Raises:
            ConfigError: one cannot; it keeps the old ones.
        """
        for channel in self._channels.values():
            await channel.renew(settings)

    def recall(self, to: Conversation, ago_s: float) -> None:
        """Tell its channel that something went there not long ago; see `Channel`."""
        if channel := self._channels.get(to.channel):
            channel.recall(to, ago_s)

    async def deliver(self, to: Conversation, what: Outgoing) -> SendOutcome:
        """Send into a conversation of whichever channel; see `Deliver`."""
        channel = self._channels.get(to.channel)
        if channel is None:  # kept by a version that had it
            return SendOutcome("permanent", None, to.channel, 0.0, "channel.unknown")
        return await channel.deliver(to, what)


def open_channels(
    settings: GatewaySettings, *, session: aiohttp.ClientSession, clock: Clock, log: Log
) -> Channels:
    """Make every channel from its settings.

    Raises:
        ConfigError: a channel cannot be made from these.
    """
    return Channels(one(settings, session=session, clock=clock, log=log) for one in _OPENERS)

"""The self-built app of WeCom: messages by callback, answers by the active API."""

from __future__ import annotations

import aiohttp
from aiohttp import web

from common.clock import Clock
from common.logs import Log
from gateway.base.messages import Accept, Channel, Conversation, SendOutcome
from gateway.base.settings import GatewaySettings
from gateway.channels.wecom_app import callback
from gateway.channels.wecom_app.messages import NAME
from gateway.wecom.client import WeComClient
from gateway.wecom.crypto import CallbackCrypto

__all__ = ["NAME", "open_channel"]


def open_channel(
    settings: GatewaySettings, *, session: aiohttp.ClientSession, clock: Clock, log: Log
) -> Channel:
    """Make the channel.

    Raises:
        ConfigError: ``config.insecure-url`` or ``config.encoding-aes-key``.
    """
    wecom = settings.wecom
    client = WeComClient(
        api_base=wecom.api_base,
        corp_id=wecom.corp_id,
        agent_id=wecom.agent_id,
        corp_secret=wecom.corp_secret.get_secret_value(),
        clock=clock,
        session=session,
    )
    crypto = CallbackCrypto(
        token=wecom.token.get_secret_value(),
        encoding_aes_key=wecom.encoding_aes_key.get_secret_value(),
        receive_id=wecom.corp_id,
    )

    async def deliver(to: Conversation, text: str, *, repeated: bool = False) -> SendOutcome:
        return await client.send_text(to.user, text, repeated=repeated)

    def routes(accept: Accept) -> list[web.RouteDef]:
        return callback.routes(
            crypto,
            accept,
            clock=clock,
            corp_id=wecom.corp_id,
            agent_id=wecom.agent_id,
            log=log,
            path=wecom.callback_path,
        )

    return Channel(NAME, deliver, routes)

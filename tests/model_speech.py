"""How a scripted model says things in its two interfaces: Responses and Chat Completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.model_script import Step

INPUT_TOKENS: Final = 100
OUTPUT_TOKENS: Final = 20
_PIECE: Final = 24  # characters of one delta


class Speech:
    """How one of the two interfaces says things."""

    def opening(self) -> bytes:
        """What comes before the first delta of an answer that has no regular end."""
        return b""

    def delta(self, words: str) -> bytes:
        raise NotImplementedError

    def thought(self, words: str) -> bytes:
        raise NotImplementedError

    def events(self, step: Step) -> AsyncIterator[bytes]:
        raise NotImplementedError

    def whole(self, step: Step) -> object:
        raise NotImplementedError


class ResponsesSpeech(Speech):
    """``/v1/responses``, as codex reads it, too."""

    def opening(self) -> bytes:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        begun = self._event("response.created", response={"id": "resp_1"})
        return begun + self._event("response.output_item.added", output_index=0, item=item)

    def delta(self, words: str) -> bytes:
        return self._event("response.output_text.delta", item_id="msg_1", delta=words)

    def thought(self, words: str) -> bytes:
        return self._event("response.reasoning_summary_text.delta", item_id="rs_1", delta=words)

    async def events(self, step: Step) -> AsyncIterator[bytes]:
        yield self._event("response.created", response={"id": "resp_1", "temperature": 1.0})
        if step.do == "thinking":
            yield self.thought(step.code)
        if step.do == "failed":
            error = {"code": step.code, "message": step.text}
            yield self._event("response.failed", response={"id": "resp_1", "error": error})
            return
        for item in self._items(step):
            opened = item | {"content": []} if item["type"] == "message" else item
            yield self._event("response.output_item.added", output_index=0, item=opened)
            if item["type"] == "message" and step.do != "refusal":
                for piece in _pieces(step):
                    yield self.delta(piece)
                    await asyncio.sleep(step.pause_s)
            yield self._event("response.output_item.done", output_index=0, item=item)
        whole = self.whole(step)
        kind = "response.incomplete" if whole["status"] == "incomplete" else "response.completed"
        yield self._event(kind, response=whole)

    def whole(self, step: Step) -> dict[str, Any]:
        done = "incomplete" if step.code and step.do == "text" else "completed"
        answer: dict[str, Any] = {
            "id": "resp_1",
            "object": "response",
            "status": done,
            "error": None,
            "incomplete_details": {"reason": step.code} if done == "incomplete" else None,
            "output": self._items(step),
            "temperature": 1.0,
        }
        if step.do == "failed":
            answer |= {"status": "failed", "error": {"code": step.code, "message": step.text}}
        if step.usage:
            answer["usage"] = {
                "input_tokens": INPUT_TOKENS,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": OUTPUT_TOKENS,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            }
        return answer

    def _items(self, step: Step) -> list[dict[str, Any]]:
        if step.do == "apply_patch":
            call = {"id": "ctc_1", "call_id": "call_1", "status": "completed"}
            return [{"type": "custom_tool_call", "name": "apply_patch", "input": step.text, **call}]
        part: dict[str, Any] = {"type": "output_text", "text": step.text, "annotations": []}
        if step.do == "refusal":
            part = {"type": "refusal", "refusal": step.text}
        return [{"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}]

    @staticmethod
    def _event(kind: str, **facts: object) -> bytes:
        body = json.dumps({"type": kind, **facts}, ensure_ascii=False)
        return f"event: {kind}\ndata: {body}\n\n".encode()


class ChatSpeech(Speech):
    """``/v1/chat/completions``, with DeepSeek's field for thoughts."""

    def delta(self, words: str) -> bytes:
        return self._event({"content": words})

    def thought(self, words: str) -> bytes:
        return self._event({"content": None, "reasoning_content": words})

    async def events(self, step: Step) -> AsyncIterator[bytes]:
        yield self._event({"role": "assistant", "content": ""})
        if step.do == "thinking":
            yield self.thought(step.code)
        if step.do == "failed":
            yield _data({"error": {"code": step.code, "message": step.text}})
            return
        if step.do == "refusal":
            yield self._event({"refusal": step.text})
        else:
            for piece in _pieces(step):
                yield self.delta(piece)
                await asyncio.sleep(step.pause_s)
        yield self._event({}, finish=self._finish(step))
        if step.usage:
            yield _data({"id": "c1", "choices": [], "usage": self._usage()})
        yield b"data: [DONE]\n\n"

    def whole(self, step: Step) -> object:
        if step.do == "failed":
            return {"error": {"code": step.code, "message": step.text}}
        message: dict[str, Any] = {"role": "assistant", "content": step.text}
        if step.do == "refusal":
            message |= {"content": None, "refusal": step.text}
        if step.do == "thinking":
            message["reasoning_content"] = step.code
        choice = {"index": 0, "message": message, "finish_reason": self._finish(step)}
        usage = {"usage": self._usage()} if step.usage else {}
        return {"id": "c1", "object": "chat.completion", "choices": [choice], **usage}

    @staticmethod
    def _finish(step: Step) -> str:
        reasons = {"max_output_tokens": "length", "content_filter": "content_filter"}
        return reasons.get(step.code, "stop") if step.do == "text" else "stop"

    @staticmethod
    def _usage() -> dict[str, int]:
        return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS}

    @staticmethod
    def _event(delta: Mapping[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _data({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]})


def _data(event: object) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _pieces(step: Step) -> Iterator[str]:
    size = -(-len(step.text) // step.pieces) if step.pieces else _PIECE
    yield from (step.text[at : at + size] for at in range(0, len(step.text), max(size, 1)))
    while step.until and not Path(step.until).exists():
        yield step.text[-1]

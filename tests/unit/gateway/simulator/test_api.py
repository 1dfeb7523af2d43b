"""WeCom's API as the simulator answers it: tokens, messages, cards and their limits."""

from __future__ import annotations

from typing import Any

from common.clock import ManualClock
from gateway.base.messages import Card
from gateway.channels.wecom_app.cards import template_card
from gateway.simulator.api import CODE_SECONDS, SimulatedApp
from gateway.simulator.cards import card_fault
from gateway.simulator.config import new_app
from gateway.simulator.faults import Switched
from gateway.simulator.feed import Feed
from tests.each import each
from tests.simulated import button_card, card_message, text_message


class Desk:
    """One app on a clock that stands still."""

    def __init__(self, **config: Any) -> None:
        from dataclasses import replace

        self.clock = ManualClock()
        self.feed = Feed()
        made = replace(new_app(callback_url="http://127.0.0.1:1/"), **config)
        self.app = SimulatedApp(made, self.feed, clock=self.clock)

    def texts(self) -> list[str]:
        return [one.text for one in self.feed.messages(0)]


def test_a_token_is_the_same_while_it_lives_and_ends_as_it_was_told() -> None:
    desk = Desk()
    first = desk.app.new_token()
    assert first["expires_in"] == 7200
    desk.clock.advance(10)
    assert desk.app.new_token() == first | {"expires_in": 7190}
    desk.app.expire_tokens()
    expired = desk.app.token_fault(first["access_token"])
    assert expired is not None
    assert expired["errcode"] == 42001
    desk.app.token_seconds = 100
    second = desk.app.new_token()
    assert second["access_token"] != first["access_token"]
    assert desk.app.token_fault(second["access_token"]) is None
    desk.clock.advance(100)
    assert desk.app.token_fault(second["access_token"]) is not None
    desk.app.forget_tokens()
    forgotten = desk.app.token_fault(second["access_token"])
    assert forgotten is not None
    assert forgotten["errcode"] == 40014


@each(
    "errcode, extra",
    [
        (0, {}),
        (40056, {"agentid": "1000002"}),
        (40056, {"agentid": 7}),
        (40008, {"msgtype": "nothing"}),
        (40008, {"msgtype": None}),
        (44004, {"text": {"content": " "}}),
        (44004, {"text": "x"}),
        (81013, {"touser": ""}),
        (81013, {"touser": "|"}),
        (81013, {"touser": "stranger"}),
        (81013, {"touser": "", "toparty": "1"}),
        (40058, {"touser": "|".join(map(str, range(1001)))}),
        (40058, {"duplicate_check_interval": 14_401}),
        (40058, {"duplicate_check_interval": "1"}),
        (0, {"msgtype": "markdown", "markdown": {"content": "# x"}}),
        (40058, {"msgtype": "textcard", "textcard": {"title": "x", "description": "y"}}),
        (0, {"msgtype": "textcard", "textcard": {"title": "x", "description": "y", "url": "z"}}),
        (40058, {"msgtype": "template_card", "template_card": None}),
    ],
)
def test_a_message_is_answered_as_the_documents_say(errcode: int, extra: dict[str, Any]) -> None:
    desk = Desk(members=("Li", "wang"))
    answer = desk.app.send(text_message(desk.app, "x") | extra)
    assert answer["errcode"] == errcode
    assert len(desk.texts()) == (errcode == 0)


def test_who_does_not_see_the_app_is_named_in_lower_case() -> None:
    desk = Desk(members=("Li", "wang"))
    answer = desk.app.send(text_message(desk.app, "x", touser="LI|Zhao|wang", totag="t"))
    assert (answer["errcode"], answer["invaliduser"], answer["invalidtag"]) == (0, "zhao", "t")
    assert [one.user for one in desk.feed.messages(0)] == ["LI", "wang"]
    desk.app.send(text_message(desk.app, "y", touser="@all"))
    assert len(desk.texts()) == 4
    answer = desk.app.send(text_message(desk.app, "x", touser="Zhao"))
    assert (answer["errcode"], answer["invaliduser"], "msgid" in answer) == (81013, "zhao", False)


def test_a_repeated_message_is_dropped_only_when_that_was_asked_for() -> None:
    desk = Desk()
    check = {"enable_duplicate_check": 1, "duplicate_check_interval": 60}
    for extra in ({}, {}, check, check, check | {"touser": "wang"}):
        assert desk.app.send(text_message(desk.app, "same", **extra))["errcode"] == 0
    assert len(desk.texts()) == 3
    desk.clock.advance(60)
    desk.app.send(text_message(desk.app, "same", **check))
    assert len(desk.texts()) == 4


def test_more_than_thirty_a_minute_or_a_thousand_an_hour_are_dropped_in_silence() -> None:
    desk = Desk()
    for _ in range(35):
        assert desk.app.send(text_message(desk.app, "x"))["errcode"] == 0
    assert len(desk.texts()) == 30
    desk.app.send(text_message(desk.app, "x", touser="wang"))
    for _ in range(40):
        desk.clock.advance(60)
        for _ in range(30):
            desk.app.send(text_message(desk.app, "x"))
    to_li = sum(len(tries) for tries in [desk.app._sent_at["li"]])
    assert to_li == 1000


def test_long_texts_are_cut_at_2048_bytes_on_a_character() -> None:
    desk = Desk()
    desk.app.send(text_message(desk.app, "中" * 1000))
    assert desk.texts() == ["中" * 682]


def test_an_app_is_told_of_by_its_own_id_alone() -> None:
    app = Desk().app
    asked = {number: app.describe(number)["errcode"] for number in ("1000002", "7", "x", "²")}
    assert asked == {"1000002": 0, "7": 301002, "x": 40056, "²": 40056}


def test_an_app_tells_who_sees_it_and_whether_it_is_switched_off() -> None:
    everybody, some = Desk().app.describe("1000002"), Desk(members=("Li",)).app
    assert (everybody["allow_userinfos"]["user"], everybody["close"]) == ([], 0)
    assert everybody["allow_partys"] == {"partyid": [1]}
    told = some.describe("1000002")
    assert told["allow_userinfos"] == {"user": [{"userid": "Li"}]}
    assert told["allow_partys"] == {"partyid": []}
    some.switches.turn_on("50003", Switched(left=1))
    some.switches.turn_on("81013", Switched())
    for _ in range(2):  # to look counts no call
        told = some.describe("1000002")
        assert (told["close"], told["allow_userinfos"]["user"]) == (1, [])


def test_the_representation_holds_no_secret() -> None:
    config = Desk().app.config
    secrets = (config.token, config.encoding_aes_key, config.corp_secret)
    assert not any(secret in repr(config) for secret in secrets)


NOTICE = {
    "card_type": "text_notice",
    "main_title": {"title": "x"},
    "card_action": {"type": 1, "url": "https://example.com"},
}
QUESTION = {"question_key": "q", "option_list": [{"id": "a", "text": "A"}]}
SUBMIT = {"submit_button": {"text": "Go", "key": "go"}}
VOTE = button_card(card_type="vote_interaction", checkbox=QUESTION) | SUBMIT
SELECTS = button_card(card_type="multiple_interaction", select_list=[QUESTION]) | SUBMIT


def buttons(count: int) -> list[dict[str, str]]:
    return [{"text": "x", "key": str(number)} for number in range(count)]


@each(
    "field, card",
    [
        ("", button_card()),
        ("", NOTICE),
        ("", NOTICE | {"main_title": {}, "sub_title_text": "x"}),
        ("", NOTICE | {"card_type": "news_notice", "card_image": {"url": "u"}}),
        ("", VOTE),
        ("", SELECTS),
        ("", button_card("a" * 128)),
        ("", button_card(button_list=buttons(6))),
        ("", button_card(button_list=[{"text": "x", "type": 1, "url": "u"}])),
        ("", button_card(button_list=[{"text": "x", "key": "k" * 1024}])),
        ("template_card", None),
        ("template_card", []),
        ("card_type", {"card_type": "other"}),
        ("main_title.title", button_card(main_title={})),
        ("main_title.title", NOTICE | {"main_title": {}}),
        ("task_id", button_card() | {"task_id": None}),
        ("task_id", button_card("a" * 129)),
        ("task_id", button_card("a b")),
        ("task_id", button_card("ä")),
        ("task_id", NOTICE | {"action_menu": {"action_list": buttons(1)}}),
        ("card_action", NOTICE | {"card_action": {"type": 3}}),
        ("card_action", NOTICE | {"card_action": {"type": 1}}),
        ("card_image", NOTICE | {"card_type": "news_notice"}),
        ("button_list: 1..6", button_card(button_list=buttons(7))),
        ("button_list: 1..6", button_card(button_list=[])),
        ("button_list.key", button_card(button_list=[{"text": "x"}])),
        ("button_list.text", button_card(button_list=[{"key": "x"}])),
        ("button_list.type", button_card(button_list=[{"text": "x", "type": 1}])),
        (
            "button_list.key: 1024 bytes",
            button_card(button_list=[{"text": "x", "key": "中" * 342}]),
        ),
        ("button_list.key: duplicate", button_card(button_list=buttons(1) * 2)),
        (
            "horizontal_content_list: 0..6",
            NOTICE | {"horizontal_content_list": [{"keyname": "x"}] * 7},
        ),
        ("horizontal_content_list.keyname", NOTICE | {"horizontal_content_list": [{}]}),
        ("jump_list: 0..3", NOTICE | {"jump_list": [{}] * 4}),
        ("action_menu.action_list: 1..3", button_card(action_menu={"action_list": buttons(4)})),
        ("checkbox", VOTE | {"checkbox": None}),
        (
            "checkbox.option_list: 1..20",
            VOTE | {"checkbox": QUESTION | {"option_list": [{"id": "a", "text": "A"}] * 21}},
        ),
        (
            "checkbox.option_list.id: duplicate",
            VOTE | {"checkbox": QUESTION | {"option_list": [{"id": "a", "text": "A"}] * 2}},
        ),
        ("select_list: 1..3", SELECTS | {"select_list": [QUESTION] * 4}),
        ("select_list.question_key: duplicate", SELECTS | {"select_list": [QUESTION] * 2}),
        ("submit_button", SELECTS | {"submit_button": None}),
        ("main_title.title", NOTICE | {"main_title": {"title": ["x"]}}),
        ("source", NOTICE | {"source": "x"}),
        ("quote_area.quote_text", NOTICE | {"quote_area": {"quote_text": {}}}),
        ("sub_title_text", NOTICE | {"sub_title_text": 7}),
        ("checkbox.question_key", NOTICE | {"checkbox": {"option_list": 7}}),
        ("button_selection", button_card(button_selection=[])),
        ("jump_list.title", NOTICE | {"jump_list": [{"title": {}}]}),
    ],
)
def test_a_card_keeps_within_the_documented_limits(field: str, card: Any) -> None:
    assert card_fault(card) == field


def test_who_sees_no_cards_reads_all_that_is_on_one() -> None:
    desk = Desk()
    card = Card(
        card_id="T-7K3F@8F24-4GN7",
        title="T-7K3F · dev-1",
        said="waits on dev-1",
        line="Run make test",
        facts=(("Code", "8F24-4GN7"), ("There", "codexbridge approve T-7K3F")),
        buttons=(("status", "View status"), ("cancel", "Cancel")),
    )
    desk.app.send(card_message(desk.app, template_card(card)))
    (text,) = desk.texts()
    assert text.splitlines() == [
        *("T-7K3F · dev-1", "waits on dev-1", "Run make test"),
        *("Code  8F24-4GN7", "There  codexbridge approve T-7K3F", "[View status] [Cancel]"),
    ]


def test_a_task_id_is_used_once_in_an_app() -> None:
    desk = Desk()
    first = desk.app.send(card_message(desk.app, button_card()))
    assert first["errcode"] == 0
    assert "response_code" in first
    again = desk.app.send(card_message(desk.app, button_card()))
    assert again["errcode"] == 40058
    assert "task_id" in again["errmsg"]
    assert "response_code" not in desk.app.send(card_message(desk.app, NOTICE))


def test_an_app_without_a_callback_sends_no_card_that_calls_back() -> None:
    desk = Desk(callback_url="")
    assert desk.app.send(card_message(desk.app, button_card()))["errcode"] == 48002
    assert desk.app.send(card_message(desk.app, NOTICE))["errcode"] == 0


def test_a_response_code_lasts_72_hours_and_is_used_once_by_a_good_call_alone() -> None:
    desk = Desk()
    codes = [
        desk.app.send(card_message(desk.app, button_card(name)))["response_code"]
        for name in ("a", "b")
    ]
    good = {
        "agentid": desk.app.config.app_id,
        "userids": ["li"],
        "response_code": codes[0],
        "template_card": button_card("a", main_title={"title": "new"}),
    }
    for wrong, errcode in (
        ({"agentid": 7}, 40056),
        ({"template_card": None}, 40058),
        ({"button": {"replace_name": "x"}}, 40058),
        ({"template_card": None, "button": {}}, 40058),
        ({"template_card": {}}, 40058),
        ({"userids": []}, 81013),
        ({"response_code": "x"}, 40058),
    ):
        assert desk.app.update_card(good | wrong)["errcode"] == errcode
    assert desk.app.update_card([])["errcode"] == 40058
    assert desk.app.update_card(good) == {"errcode": 0, "errmsg": "ok", "invaliduser": []}
    buttons = "[Stop watching] [Status]"
    assert desk.texts() == [f"T-7K3F\nwaits\n{buttons}", f"new\n{buttons}"]
    assert desk.app.update_card(good)["errcode"] == 40058
    desk.clock.advance(CODE_SECONDS)
    assert desk.app.update_card(good | {"response_code": codes[1]})["errcode"] == 40058

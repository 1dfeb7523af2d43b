"""The ordered table of rules (`rules`): the first that fits a clause decides it.  Pure data.

A row names itself, how a clause speaks that fits, what is then wanted and how often that is right;
below it stands a pattern over the classes of words (`tags`), from the beginning of the clause.
``{…}`` is one of `PARTS`.  Order is meaning: what approves, what is forbidden and what is asked
come before any deed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Polite beginnings; nothing that asks; a wish, or one put politely; what may stand before a verb;
# verbs of free text.
PARTS: Final[Mapping[str, str]] = {
    "P": (
        "(?:please|ok|thou|canyou|maywe|helpme|i(?=please|canyou|desire|helpme)|(?:it|bot|you|"
        "greet|can|with|done|yes)(?=please|canyou|helpme))*"
    ),
    "STATED": ("(?!.*(?:what|how|why|who|where|whether|nature|asksdiff|count|should|mayiask))"),
    "MAY": "(?:(?=.*(?:canyou|maywe|okq))|(?!.*(?:asked|ma)))",
    "TOPIC": (
        "(?:det|my|it|i|of|thing|word|han|code|codeword|quoted|num|http|test|diff|prep|remote|"
        "please)*"
    ),
    "HEADS": "(?:change|become|edit|off(?!.*approve)|find|explain|review|debug)",
}

ROWS: Final = """
# approving: not from here
asks-whether-approved: asks status 0.85
    (?:.*(?:who|have|be|do|cannot).*approve.*id|(?:have|be|do|who)(?:det|my|it|task|diff|
    id|of|done)*approve(?:prep|done|ma|asked|id|it|det|task|diff|status)*$)
grants-leave: approves help 0.9
    (?!.*(?:how|what|where|who|which|asked|ma))(?:{P}(?:det|my|it|i|you|thou|word|yes|ok|and|
    task|han|have|be|approve|of)*grant|(?:[^asked ma]*)grant(?:please)*$)
approves-a-deed: approves help 0.9
    {P}(?:i|yes|ok)*approve(?:you|thou|i|have|done)*(?:ba|change|become|off|edit|run|
    push|commit|make|test)[^asked ma cannot who how]*$
asks-how-to-approve: asks help 0.9
    (?=.*(?:how|where|can|should|who|what|which|ma|or|canyou|maywe|be|do|whether|asksbot))
    (?!{P}{HEADS}).*approve[^thing code codeword of where]*$
skips-approval: approves help 0.9
    (?!{P}{HEADS}[^please]).*(?:skip|without|neg|cannot|noask)(?:you|i|det|my|it|to|prep|
    want|have|please|can)*approve(?!thing|code)|{P}(?:off|cancel|skip)(?:det|my|
    it)*approve(?!thing|prep)|{P}ba(?:det|my)*approve(?:off|skip|cancel)
asks-not-to-be-asked: approves help 0.9
    (?!{P}{HEADS}(?!.*noask(?:please|i|prep|approve|it)*$)).*noask
approves: approves help 0.95
    (?:i|you|thou|have|yes|ok|id|please|it|can|want|my|code|helpme|word(?=approve))*
    (?:weak)?approve(?:word$|approve|ok|thou|it|id|det|diff|task|status|my|code|please|yes|apply|
    run|push|commit|codeword|you|i|prep|change|test|num|to|edit|done)*$|(?:please)*(?:run|push|
    test|commit|
    apply)[^asked ma thing code]*approve$
acts-on-a-task: approves help 0.9
    (?!{P}(?:explain|review|look|find|show|debug|ask|undo|cancel|nope))(?!.*(?:how|what|
    why|when|where|who|ma|asked|status|done|standing|fail|wrong))(?=.*id).*(?:run|apply|
    push|yes|ok|commit|change|become|edit|can|word|test|off)
passes: approves help 0.9
    {P}pass(?:please|ok)*$
agrees: approves help 0.9
    (?:ok|please)*ok(?:please)*$
grants: approves help 0.9
    {P}(?:make|become|edit|use|change(?=it|you|i))(?:you|it|i|to|prep|det|my)*approve(?!thing|code|
    word|han)[^change thing code codeword asked ma]*$|{P}(?:make|off|have|use|ba)(?:you|det|my|it|
    i|to|prep|bot)*approve(?:please|prep|you|it|i|num|
    yes|ok|off|skip|cancel|become|once)*$
rejects: approves help 0.95
    (?:please)*(?:nope|det(?=$))(?:it|id|please|approve|det|diff|task|greet)*$
says-yes: approves help 0.9
    (?=.*yes|ok.*(?:run|apply|push))(?:yes|ok|please|to|it|apply|id|diff|run|i|you|thou|
    greet|push|can|approve|code|once|helpme|prep|of|have|want)+$

# the bot itself
greets: greets help 0.9
    (?:greet|please|ok|thou|yes|nope|you|bot|it|i)+(?:asked|ma|word)?$
asks-for-help: greets help 0.95
    {P}(?:det|my|i|want|have|desire|show|exists|what|be|can|which|ask|or)*help(?:asked|
    please|it|i|prep|bot|you|ma|show|exists|what|can|with|to|once|use)*$
asks-how-to-use-you: asks help 0.8
    how(?:do|can|should|to)*i?(?:word|make|ask|look|use|show|want|push|change|edit|run|become)you
asks-how-it-is-used: asks help 0.85
    how(?:do|can)i(?:use)(?:it|bot|you|det)+(?:task|thing)?asked?$
asks-about-the-bot: asks help 0.85
    (?=.*(?:how|what|which|canyou|help))(?!.*(?:thing|codeword|test|fail)).*(?:bot|
    what.*you.*do|help)(?!.*(?:done|status)).*$
asks-how-to-undo: asks help 0.85
    how(?!.*(?:code|thing|codeword)).*(?:undo|cancel|apply)(?!.*(?:code|codeword))
asks-what-you-do: asks help 0.77
    (?=.*(?:how|what|which|when|where|who))(?!.*(?:code|codeword|thing|test|diff|change|edit|
    fail|push|run|commit|nature|done|it|explain)).*(?:asksbot|you)
asks-what-the-bot-is: asks help 0.85
    .*botask|(?!.*(?:code|thing|codeword|test|diff|task|fail|done|status|standing|it|
    change|become)).*(?:thou.*(?:what|how|which|who|ma|where)|(?:what|how|which|
    who).*thou)|(?:what|which)(?:word|det|of|thing)*(?:asksbot|canyou|can(?:you|i))(?!.*
    (?:code|codeword|test|diff|done|it))
asks-how-it-fares: asks status 0.8
    (?!.*(?:code|codeword|fail)).*how.*faring
asks-for-the-setup: asks help 0.8
    (?=.*(?:how|what|which|can|canyou|maywe|should|ma|where|do|be|who|asked|show))(?!.*
    (?:code|codeword|test|diff|fail|change)).*domain
asks-whether-it-is-done: asks status 0.75
    (?!.*code).*(?:change|become|off|run|test|push|commit|approve|apply|task|edit)did ma
    (?:asked)?$|(?!.*
    (?:thing|code|codeword|fail|diff)).*did ma(?:asked)?$|(?:be|do|have)(?!.*(?:code|codeword)).*
    (?:test|diff|change|task|it|approve).*done(?:asked)?$
asks-whether-sent: asks status 0.8
    have(?!.*(?:code|should|why|how|what|cannot)).*(?:past|sent|done)(?:asked|once|prep|it|
    please)*$|(?:be|do|have|askdone)(?:det|my|it)(?:word|han)*(?:past|sent|done)(?:asked|once|
    prep)*$|(?:be|
    do|have|askdone|asksbot)(?!.*(?:code|should|whether)).*sent
asks-whether-done: asks status 0.8
    askdone(?!.*(?:thing|code|codeword|test|diff))
asks-where-it-stands: asks status 0.9
    (?!.*(?:fail|wrong|push|commit)).*standing
asks-the-bot-for-status: asks status 0.8
    asksbot.*(?:done|status|run|task)
asks-the-bot: asks help 0.8
    asksbot(?=.*(?:ma|asked))

# where tasks stand
names-a-task: asks status 0.9
    (?!{P}(?:change|edit|undo|apply|approve|cancel|explain|review|run|debug|nope))
    (?=.*id).*(?:status|done|how|what|where|be|do|ma|asked|who|when|show|have|cannot|look|
    fail|why)
asks-after-a-task: asks status 0.8
    (?!.*(?:code|codeword|why|test|diff)).*(?:be|do|have|askdone|count|which|what|who|when|ma).*
    task(?!.*(?:thing|find)).*(?:asked|ma|done|past|fail)|(?:be|do|have|askdone)(?!.*(?:code|test|
    diff|thing)).*task$|
    count(?!.*(?:code|codeword|test|diff)).*status
asks-for-status: asks status 0.9
    (?=.*(?:status|(?:task|bot).*done|done.*task|task.*(?:show|find)|(?:show|find|
    look).*task|bot.*(?:asked|ma)|exists.*done|(?:be|have|do)(?:my|it)?(?:task|it)(?:prep|
    it|you|i|word)*done|what.*done|^(?:det|my|it)*task asked))(?!.*(?:thing|codeword))
    (?:please|canyou|look|show|ask|find|what|which|how|why|where|who|when|det|my|it|i|you|
    be|do|have|exists|of|prep|status|task|done|bot|num|id|ma|asked|cannot|once|or|to|han|
    word|run|test|change|diff|approve|greet|want|edit|with|and|neg|quoted|yes|fail|remote|
    push|asksbot|explain|wrong|ok|thou|helpme)*$|id$

asks-when-it-is-done: asks status 0.8
    status(?:please|nature|asked|ma|once)*$|done(?:done|it|prep)*asked$|when(?:can|be)(?:det|my|it|
    thing|change|test|task|word|edit)+(?:be)?(?:done)|exists(?:fail|done|status|of|det)*task(?:ma|
    asked)?$|(?:do|have)(?:det|my|it)(?:thing|word|review|test|prep|diff|my|det|of|task)*(?:done|sent|
    passing)(?:asked|once|prep)*$|thou(?:please)*(?:push|commit|change|run|test|become|off|edit)
    (?:did)?ma$

# forbidden
forbids-by-nothing: forbids help 0.6
    {P}(?:run|change|make|edit|push|commit|test|do|use)(?:none|exists)$
forbids-as-a-state: forbids help 0.6
    (?!.*(?:asked|ma|why|what|how|who)).*banned
waits: forbids help 0.8
    {P}(?:when|cancel|once|it|please)*(?:when|cancel)(?:once|it|please)*$
forbids: forbids help 0.6
    {P}(?:i|you|it|det)*neg
forbids-behind: forbids help 0.6
    [^change become off edit run push commit find review debug explain look why how what]*neg

# whether to, put as an opinion or as two ways
asks-an-opinion: asks explain 0.85
    (?!.*(?:diff|review|my)).*opine.*(?:ma|asked|quality|okq|how|whether|or|nature|should|maywe|fail)
asks-which-of-two: asks explain 0.8
    or(?:han|word|once|please|prep|it|det|thing|num|code)*$

# failures to look into
asks-about-what-fails: tells diagnose 0.8
    (?:det|my|thing|word|code|codeword)+fail[^what how why who where whether should or
    canyou]*asked$|look asked$
asks-what-is-wrong: wishes diagnose 0.9
    (?!{P}explain)(?!.*diff).*wrong
looks-into-why: wishes diagnose 0.85
    {P}(?:look|debug|find|review)(?!.*(?:what.*do)).*(?:why|cause)|{P}look(?!.*(?:diff|
    quality|test.*passing)).*(?:fail|wrong|http)|how(?:thing|it|han)*fail$
explains-a-failure: wishes diagnose 0.75
    {P}explain.*(?:pasted|fail.*pasted|stop.*fail)
tells-after-a-deed: tells diagnose 0.85
    .*(?:change|become|off|edit|run|push|commit|test)did.*(?:fail|cannot|weak|wrong)|{P}
    (?:det)?(?:change|edit|off|run|find|review|push)(?:thing|word)?failed(?!thing|plural|
    test|code|word)

# what a name asks for
asks-help-by-name: asks help 0.8
    (?!.*(?:code|codeword|test|diff|fail)).*(?:help|botask).*(?:ma|asked)
asks-state-by-name: asks status 0.8
    (?!.*(?:code|codeword|fail|thing(?!.*task))).*(?:status|standing).*(?:ma|asked)|.*task.*
    (?:status|standing).*
    (?:ma|asked)
asks-review-by-name: wishes review 0.8
    (?!.*(?:why|test|explain)).*(?:review|quality).*(?:ma|asked)

# git: nothing but these words may stand in the clause
sends-to-remote: wishes git_sync 0.85
    {STATED}(?!.*(?:fail|cannot|weak|neg|asked|ma|be|when|desire|have|approve))
    (?!{P}(?:change|become|make|edit|off)){P}(?:[^run find review debug explain]*
    push(?:to|prep|det|my|yes)*remote(?:please|yes|prep|of|once)*$|prep remote(?:please)*
    (?:become|change|sync|edit)(?:please|once)*$|commit thing(?:please|edit|be|use)*quoted|
    push(?:det|my|thing|help|word|code|find|diff)+(?:change|edit)$)
moves-work-to-remote: wishes git_sync 0.85
    {STATED}(?!.*(?:digest|review))(?={P}word|.*(?:ba|become|change|make|push|edit|sync|commit))
    (?:(?!.*asksdiff){MAY}{P}(?:ba)?(?:change|become|make|word|push|edit|sync)?(?:my|det|of|please|
    i|edit|thing|find|help)*
    (?:diff|codeword|it)(?:my|det|it|of|please|word|code|commit|done|diff)*(?:change|become|make|
    push|word|sync|edit)?(?:to|prep|push|han|det|my|yes|code)*(?:remote|program)(?:please|
    yes|prep|of|asked|ma|okq)*$|{P}(?:edit|push)(?:to|prep|det)*(?:remote|program)
    (?:please)*$)
pushes: wishes git_sync 0.95
    {MAY}{P}(?:ba(?:change|edit|thing|occur|test)*)?(?:det|diff|it|codeword|my|of|please|
    code|commit)*(?:commit(?:det|diff|it|my|codeword|thing|code|of|once)*(?:and|please)*)?
    (?:push|sync)(?:det|diff|it|to|prep|my|codeword|once|please|of|i|you|num|code|commit|
    and|pushing|quoted|greet|what|rel|have|be|weak|yes|done|word(?=diff|codeword|$)|test|
    thing(?=diff|codeword|remote)|remote|change(?=$)|asked|ma|okq)*(?:with.*)?$
merges: wishes git_sync 0.8
    {STATED}(?:{MAY}{P}(?:ba)?(?:my|it|det|diff|codeword|of|code|word)*merge(?:it|my|det|diff|code|
    of)*(?:to|
    prep)*(?:my|it|det|word|code|han)*(?:remote|diff|codeword|my)(?:please|prep|of|asked|ma|okq)*$)
pulls: wishes git_sync 0.8
    {MAY}{P}(?:ba|det|my|it|codeword)*pull(?:det|diff|it|to|prep|my|codeword|once|please|
    of|i|you|code|remote|word|and|change|asked|okq|task|ma)*$
commits: wishes git_sync 0.9
    (?!.*commit(?:fail|cannot|weak)){MAY}{P}(?:ba)?(?:det|diff|it|codeword|my|of|please|thing|code|
    test|fail|edit)*commit
    (?:det|diff|it|to|prep|remote|my|codeword|once|please|of|i|you|num|code|thing|test|
    fail|word|what|rel|weak|have|be|han|yes|and|pushing|push|quoted|change|asked|ma|okq|
    done)*(?:with.*)?$

sends-what-comes-first: wishes git_sync 0.85
    {STATED}(?:{MAY}{P}ba[^asked ma fail cannot weak be neg]*(?:commit|push)(?:once|please|prep|
    remote|to|
    codeword|diff)*$|(?!.*(?:fail|cannot|weak|neg|be|have|what|how|why))(?!.*(?:asked|ma)){P}
    (?:my|it|of|han|codeword|diff|please|thing|prep|remote|status)*(?:diff|codeword|remote)
    (?:my|it|of|han|please|once|prep|det)*(?:push|commit|sync)(?:once|please|prep|remote|to)*$)
commits-by-name: wishes git_sync 0.85
    {STATED}(?:{MAY}{P}commit(?!thing|http)(?!.*(?:asksdiff|explain|failed|cannot|be|nature|
    quality|review|what|how|which|
    whether)).+$|{MAY}{P}(?:push|commit|sync)
    (?!thing(?!.*diff)|http)(?!.*(?:cannot|be|have|did|fail|http|desire)).*(?:diff|remote)|{MAY}{P}
    push(?:edit|push|commit|diff|thing|num|code)*(?:please|once|okq)*$)
gets-it-sent: wishes git_sync 0.8
    {STATED}(?:{MAY}{P}(?:make|change|want|desire|have)(?!.*(?:fail|cannot|neg|run))(?:.*sent(?:to|
    remote|and|please|
    sent|prep)*$|(?:my|it|diff|codeword|det(?=diff|codeword|code)).*remote(?:please|okq|asked)*$|
    (?:my|it|det|diff|of|word|num|thing)*(?:and|prep|to)*(?:commit|push)(?:please|and|push)*$))

# what has been changed
asks-about-a-deed: asks explain 0.85
    (?!.*(?:run|test).*look)(?!.*(?:canyou|maywe|helpme|okq)){P}(?:ba)?(?:change|become|off|edit|
    run|test
    (?!thing)|push|commit|pull).*(?:quality|nature|whether|should|ma|how|what|who)
asks-for-a-verdict: wishes review 0.85
    (?!.*why).*verdict
digests-changes: wishes review 0.85
    {P}digest.*diff|{P}(?:show|make|change|want|desire)(?:i|it|det|my)*(?:word|code|diff|
    prep|det)*review
asks-for-a-judgement: wishes review 0.85
    (?!.*why|{P}(?:run|test))(?=.*(?:diff|look|my|it)).*quality
asks-for-review: wishes review 0.85
    (?!{P}explain)(?=.*(?:diff|(?:my|it|prep)commit))(?!.*(?:why|push)).*(?:exists|
    whether|ma|asked|how|fail|what|where|okq|wrong)
asks-what-i-changed: wishes review 0.85
    (?:what|which)(?:do|have)i(?:change|make|become|off|edit)|(?:be|do|have|whether)(?:my|
    it)(?:change|edit|diff|commit)|what.*do.*you.*(?:my|it)(?:diff|change|edit|code|
    codeword)

# where something is
asks-where-used: wishes search 0.85
    {P}explain(?:prep|i)*where|be(?:quoted|code|word|thing|det)+use exists|(?:codeword|thing|prep)+
    occur(?!.*fail).*ma$|which(?:task|thing|code|codeword|test)+occur(?!.*fail)
asks-where: wishes search 0.9
    (?!{P}explain).*where
asks-who-uses: wishes search 0.9
    .*who.*(?:use|occur)
asks-which-files: wishes search 0.85
    {P}(?:look|show|find|prep|ask)*(?:which|what)(?:det|of)*(?:thing|test|codeword|occur)
    (?!.*(?:nature|should))
asks-how-many: wishes search 0.75
    .*count(?:thing|code|quoted|word|test)*(?:exists|asked|be|use|have|prep)*$|have
    (?:occur|of|thing|han|code|codeword)+ma
names-a-place: wishes search 0.8
    (?!{P}(?:ba|off|become)).*spot(?:please|prep|have|exists|asked|ma)*$|(?:det)*(?:use|
    occur)(?:to|prep)|(?:det|thing|codeword|occur|test)+it(?:change|edit|run|push|off|
    make)
asks-which-exist: wishes search 0.85
    .*(?:thing|test)exists(?:asked|ma)*$
asks-what-exists: wishes search 0.8
    (?!.*(?:fail|diff|why|how|nature)).*exists.*(?:use|occur|code|thing|codeword|quoted|word|han)
names-what-uses: wishes search 0.8
    (?:det|thing|codeword|occur|test)+(?:it|det)+(?:use|occur|find|word).*(?:code|word|
    quoted|thing)$|(?:det)?occur

# questions
sees-whether-it-passes: wishes run 0.85
    {P}(?:look|run)(?:prep|it|once)*whether(?:det|my|it|code|thing|codeword|word)*(?:test)*
    (?:passing|run)
tells-others: wishes explain 0.85
    {P}ba(?:det|han|word|i|it|my)*explain
asks-to-be-told: wishes explain 0.9
    {P}(?:ask|explain|digest)|{P}(?:show|change|want|desire|det)*gist
asks-why: asks explain 0.9
    (?!{P}(?:find|change|edit)).*why
asks-of-you: asks help 0.7
    (?!{P}(?:find|change|explain|review|debug|look|show|run|push|commit))(?=.*(?:asked|ma|how|what|
    which|when|
    where|who|do|be|or))(?!.*(?:code|codeword|test|diff|thing|fail|quoted|why|should|nature|canyou|
    maywe|helpme|
    okq)).*(?:you|thou|bot)
asks-how: asks explain 0.9
    (?!{P}(?:find|review|debug)).*(?:how|nature|what|which|who|count)
asks-whether-to: asks explain 0.9
    (?:and|or|please|it|when)*(?:askdone|should|whether|be|do|(?:have|cannot|can)
    (?=.*asked))(?!please)|.*(?:run|test|push|commit|change|become|off|prep).*or.|.*
    (?:whether|maywe(?:change|make|become|off|edit)(?:asked|ma)*$)
asks-with-should: asks explain 0.85
    .*should(?=.*(?:asked|ma))|(?:.*(?:han|thing|it|please))?should
asks-with-a-particle: asks explain 0.85
    (?!.*(?:canyou|maywe|okq)).*ma
asks-for-a-place: wishes search 0.7
    (?!.*(?:fail|diff|should|be|do|can|canyou|why|how)).*(?:occur|find|spot).*asked
asks-after-a-wish: asks explain 0.75
    (?!.*(?:canyou|maywe|okq))(?!{P}(?:find|review|debug))(?!.*please(?:find|look|
    review)).*asked
asks-where-in-passing: wishes search 0.7
    (?!.*(?:canyou|maywe|helpme|okq)).*(?:change|become|off|edit|run|test|push|commit|
    sync).*(?:exists|which|count)
asks-in-passing: asks explain 0.7
    (?!.*(?:canyou|maywe|helpme|okq))(?=.*(?:which|who|what|how|why|whether|should|ma|
    count))(?!{P}(?:find|look|debug|review)).*(?:change|become|off|edit|run|test|push|
    commit|sync|desire)

# wishes that their first word tells
gives-a-command: wishes run 0.95
    {P}command(?!.*(?:diff|quality))
goes-over-by-tool: wishes run 0.85
    {P}test review(?:once|please)*$
reviews: wishes review 0.9
    {P}(?:ba)?(?:det|diff|it|codeword|my|of|code|test|han)*review(?!(?:thing)?(?:be|
    cannot|fail|thing))
looks-at-changes: wishes review 0.85
    {P}(?:look|show|find|ask|debug)(?!.*(?:fail.*test)).*diff|{P}(?:my|it|det|of|
    please)*diff.*look|{P}my(?:thing|code|codeword|test|of)*(?:i|you|please)*look|(?:my|
    det)*diff$
debugs: wishes diagnose 0.9
    {P}(?:ba|it)*debug
has-a-run: wishes run 0.85
    {MAY}{P}(?:make|look|want|desire|use)(?:i|it|det|my|whether|when|word|fail|program|to|
    of|diff)*(?:test|run)(?:run|test|once|please|passing|it|be|plural|can|thing(?=$)|
    asked)*$
has-another-run: wishes run 0.85
    {MAY}{P}make(?:det|my|it|code|word|of)*test(?:det|word|once|programlike|num|more|run|please|
    thing(?=$))*$
changes: wishes change 0.9
    (?!mayiask(?!.*(?:canyou|maywe|helpme))){P}(?:it|det)?(?:change(?!(?:thing|word|test|
    code)*(?:be|cannot(?!.*of)|failed
    (?!thing|plural|test|code|word)))|make|become|off)
finds: wishes search 0.9
    {P}find(?!(?:of|thing)*(?:be|fail|cannot|have))
runs: wishes run 0.9
    {P}(?:once)?run(?!.*(?:fail|cannot)(?!test|of|codeword|thing|han|task))
checks-that-it-passes: wishes run 0.8
    {P}look(?!.*fail).*(?:test.*(?:passing|canyou|maywe)|passing)
runs-by-name: wishes run 0.85
    {P}(?:ba)?(?:det|my|it|code|thing|of|prep|han|codeword|fail|please)*test
    (?!thing)[^fail cannot be change become off edit should have desire weak asked ma passing
    plural past]*$
runs-what-comes-first: wishes run 0.85
    {P}(?:ba)?(?:det|my|it|code|thing|of|prep|han|codeword|fail|test|look|quoted)+
    (?:please)*run(?:once|i|please|it)*$
uses-a-program: wishes run 0.8
    {P}(?:prep)?program(?:look|test|run|once|code|of|det|thing|codeword|please|my)*$

# changes
asks-politely: wishes change 0.77
    (?!.*(?:how|what|why|where|who|which|whether|nature|diff)){P}(?:canyou|maywe|helpme)(?:please)*
    (?:(?!plural|past|ing)word|verb)
changes-once: wishes change 0.85
    .*(?:edit|change|become|off)once
finds-what-comes-first: wishes search 0.85
    {MAY}{P}ba[^change make become off fail cannot neg]*(?:find|show)(?:please|once|i)*$
maps: wishes change 0.8
    (?!.*(?:asked|ma|fail|cannot|why|what|how|explain)).*arrow
asks-for-more: wishes change 0.8
    (?!.*(?:why|whether|how|what)).*(?:can|should|canyou|maywe|want|desire)[^change run]*be.*more
changes-what-comes-first: wishes change 0.85
    {STATED}(?:{P}{TOPIC}ba(?:[^run test]|test(?!once)|run)*(?:change|make|become|off|edit))
gives: wishes change 0.75
    {STATED}(?:{P}ba(?!.*(?:fail|run|test once|push|commit|look)))
asks-later: wishes change 0.8
    {STATED}{MAY}(?:(?!.*(?:nature|explain|why|asksdiff|what|how|which|who|where)).*(?:please|canyou|
    maywe|helpme)(?:change|make|become|off|edit))
uses: wishes change 0.75
    {P}use(?!.*(?:cannot|fail))(?:det|code|word|quoted|thing|my)
desires: wishes change 0.8
    (?!.*(?:pasted|where|who|approve|noask|exists))(?:{P}(?:desire|want)|(?!.*(?:failed|cannot).*desire).*desire)
edits: wishes change 0.85
    {P}(?:edit|shows)(?!(?:thing|word|test|code)*(?:be|have)|[^when]*(?:fail(?!of|thing|
    test)|cannot(?!.*of)))|cancel(?:word|use)

# what is told
changes-to: wishes change 0.8
    {STATED}(?:.*(?:han|thing|fail|code|of)change(?:num|prep|quoted))
sets-behind: wishes change 0.77
    {STATED}(?!.*(?:cannot|neg|none))(?:(?!.*(?:asked|ma|what|how|why|which|who|where|whether|
    nature))(?:det|my|it|code|thing|of|prep|han|codeword|quoted|num)+edit(?!.*(?:fail|cannot|weak|
    have|did|be)))
names-a-wish: wishes change 0.77
    (?!.*(?:nature|gist))(?:det|thing|word|fail)+(?:prep|code|thing|det|word|num)*please$
mends-a-failure: wishes change 0.85
    (?!.*cannot).*(?:fail|weak)(?!.*did).*(?:become|(?:change|edit)once)
sets-to: wishes change 0.8
    {STATED}(?!.*(?:fail|cannot|weak|asked|ma))(?:thing|word|han|yes|code|det|my|of)+become(?:to|prep)*
    (?:num|code|quoted)
asks-either-or: asks explain 0.8
    (?!.*(?:fail|cannot|weak|please)).*be.*or
pastes-a-failure: tells diagnose 0.9
    .*pasted
tells-of-a-failure: tells diagnose 0.9
    .*(?:fail|http)
tells-what-does-not: tells diagnose 0.8
    .*(?:cannot|weak)
changes-behind: wishes change 0.75
    {STATED}(?!.*(?:digest|review))(?:(?!.*(?:asked|ma|what|how|why|which|who|where|whether|nature|
    quality))(?:(?:det|my|it|code|thing|of|prep|han|codeword|test|quoted|num|task|diff|
    please)+change|
    (?:det|my|it|code|thing|of|prep|han|codeword|test|quoted|num|task|diff|please|word|
    weak|edit|find|can|fail|shows|approve)+(?:become|off)))
changes-on-condition: wishes change 0.76
    when(?!.*(?:ma|what|how)).*(?:it|thing|code|han|num|quoted|fail|be|status|word|please|
    test|passing)(?:please)*(?:change|make|become|off|edit)
looks: wishes review 0.6
    {P}look.*(?:code|codeword|it)
shows: wishes search 0.65
    {P}show
unlisted-verb: wishes change 0.7
    {P}(?:(?!plural|past|ing)word|verb)(?:det|my|code|quoted|num|it(?=thing|word))(?!.*(?:be|have|
    do|
    failed|cannot|neg|weak))
unlisted-verb-by-form: wishes change 0.65
    {P}verb(?:thing|word|plural)
tells: tells diagnose 0.6
    (?:det|my|it|i|code|thing|test|han|codeword|word|plural)+.*be|ing.*(?:plural|failed|
    be|weak)|(?:det|my)*(?:thing|word)(?:plural|word)(?:prep|det|num|it)|(?:det|my|it|
    thing|program|i)(?:det|thing|word|code|test|program|past)*(?:plural|past)|(?:det|my|
    it|of|han)*(?:thing|codeword)(?!.*please).*(?:han|have|be|run)
mentions-git: wishes git_sync 0.6
    (?!.*(?:thing|code|flag|when|can|approve|fail|cannot|weak|neg|asked|ma|what|how|why|
    be|have|change|become|off|edit|test|run|review|look|find|desire)).*(?:push|commit|
    pull)
mentions-changes: wishes review 0.6
    (?!.*(?:be|fail|cannot)).*diff
mentions-a-change: wishes change 0.6
    {STATED}(?!.*(?:asked|ma|digest|review|asksbot))(?:(?!.*(?:be|plural)).*(?:become|off|desire)|(?:han|thing|code|test|of|prep|det|it)+
    (?:change|edit))
mentions-a-run: wishes run 0.6
    (?!(?:.*(?:be|word))).*(?:run|test(?:once|please)*$)
mentions-a-search: wishes search 0.6
    .*(?:occur|find)
mentions-a-task: asks status 0.6
    (?!.*(?:thing|codeword|code)).*(?:task|status|standing|faring)
mentions-the-bot: greets help 0.6
    (?!.*(?:thing|codeword|code|test)).*(?:bot|thou)
unlisted-look-in-passing: wishes review 0.6
    {P}han once(?=.*(?:codeword|my|it))
mentions-a-program: wishes run 0.6
    (?!.*(?:fail|cannot|weak|asked|ma|what|how|why|where|be|have|change|become|off|edit|find|
    explain|review|use|desire|neg|when|can|should|approve)).*(?:program|command)
tells-at-length: tells diagnose 0.56
    (?!.*(?:please|canyou|asked|ma|what|how|desire|greet|nature))(?=....)(?:det|my|it|i|thing|ing|
    plural)+(?:word|change|edit|run|push)
looks-around: wishes explain 0.55
    {P}look

# nothing but a word is known
names-git: wishes git_sync 0.65
    {STATED}(?:(?!.*(?:flag|approve|help|botask|noask|yes|digest|change|become|off|edit|asksdiff|
    should|bot|thou|asked|ma|fail|cannot|weak|neg|what|how|why|which|nature|
    quality|should)).*(?:push|commit|pull))
names-a-run: wishes run 0.65
    {STATED}(?:(?!.*(?:change|become|edit|asked|ma|fail|cannot|weak|neg|what|how|why|which|nature|
    quality|should)).*(?:run|command|
    test|program))
names-a-review: wishes review 0.65
    (?!.*(?:fail|cannot)).*(?:review|verdict|quality)
names-a-search: wishes search 0.6
    .*(?:where|find|occur|exists|spot)
names-a-state: asks status 0.6
    .*(?:standing|status|task|faring)
names-the-bot: greets help 0.6
    .*(?:botask|help|bot|greet|noask|approve|yes|nope)
names-an-explanation: wishes explain 0.6
    .*(?:explain|gist|nature|digest)
names-a-feature: wishes change 0.6
    (?:det|more|word|thing)*thing(?:prep|to)(?:det|thing|word|code|my)+$
tells-what-it-does: tells diagnose 0.56
    (?:det|my|thing|word|code)+plural(?:past|ing|thing|det|code|num|my)
names-an-edit: wishes change 0.6
    (?!.*(?:be|cannot|fail)).*(?:change|become|edit|off|shows|more|desire|want|make)
"""

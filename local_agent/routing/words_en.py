"""The English words that tell the router something, by class (`tags`).  Pure data.

Base forms stand for wishes: "fixed" and "fixing" tell of something and are listed only where that
helps.  What takes several words is in `phrases_en`.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "please": """
        please pls plz kindly hi hello hey morning um uh er hmm so like well right now again
        quickly quick actually basically really maybe perhaps thanks thank thx cheers guys
        buddy mate dude bro bot also just simply only directly first then next finally
        honestly btw anyway sorry gonna wanna let's lets todo: task: asap
    """,
    "i": "i we me us i'm we're i've we've i'd we'd i'll we'll im ive someone somebody everybody",
    "my": "my our mine local",
    "you": "you u you're your yourself",
    "it": """
        it this that these those they them there here he she its their everyone it's they're
        there's it'll
    """,
    "det": """
        the a an teh all every each some both another several many more most few no entire
        whole full following current latest other same new old
    """,
    "prep": """
        in on at of for with from by into onto as over under via per through across around
        about between against inside outside within upon up out off back away along than
        towards near behind above below toward
    """,
    "to": "to",
    "can": "can could may might would will",
    "should": "should shall must ought",
    "want": "want wants need needs wish hope requires wanted needed",
    "be": "is are was were am been being be that's here's seems looks",
    "do": "does did do",
    "have": "has have had having",
    "without": "without",
    "neg": "don't dont never not read-only leave pause halt",
    "cannot": """
        can't cannot couldn't won't wont doesnt didn't isn't aren't wasn't weren't unable
        hasn't haven't wouldn't shouldn't dosent dosn't doesn't cant didnt isnt arent hasnt
        wouldnt
    """,
    "why": "why",
    "how": "how",
    "what": "what what's whats what're",
    "where": "where where's wheres whereabouts",
    "who": "who who's whose whom",
    "which": "which",
    "whether": "whether considering suppose assuming imagine hypothetically theoretically",
    "and": "and plus & && + afterwards",
    "but": "but however except yet instead",
    "or": "or nor either neither",
    "when": "when if before after while because since until unless although though whenever",
    "change": """
        fix implement refactor add delete create replace improve upgrade bump migrate write
        rewrite convert extract inline introduce turn swap put wrap unwrap combine simplify
        tidy organize reorganize organise restructure reorder align center adjust tweak
        correct resolve solve eliminate strip trim insert append prepend inject lower increase
        decrease reduce shorten extend expand restrict validate sanitize sanitise encode
        decode encrypt translate localize localise internationalize annotate memoize debounce
        throttle paginate lazy-load preload defer parallelize parallelise vectorize optimize
        optimise dedupe deduplicate consolidate unify standardize standardise normalize
        normalise generalize abstract decouple isolate encapsulate hardcode parametrize
        parameterize configure expose pin unpin downgrade deprecate restore rollback adapt
        wire connect integrate scaffold generate ensure guard protect secure harden tighten
        loosen relax bind unbind attach detach resize shrink round truncate pad indent
        capitalize lowercase uppercase invert flip reverse collapse animate flatten delay
        exclude include overwrite delegate hoist lift silence suppress mute bring modify alter
        fill populate prefill autofill purge duplicate rethrow catch propagate vendor assert
        rename revert backport port let enable allow prevent hide split drop reword rephrase
        bold italicize colour colorize recolor darken lighten shift nudge keep supply reformat
        reindent modernize rework overhaul revamp beautify prettify shave unset define declare
        exports escape unescape compress zip minify await async uncomment subclass bail
        position place anchor serialize deserialize gate feature-flag license dockerize
        containerize typehint type-hint autoformat canonicalize cap clamp greet swallow
        cherry-pick rebrand retitle reuse decorate clarify change edit switch set toggle
        render handle raise move update nuke ditch axe chuck toss slap stick hardwire
        whitelist blacklist allowlist plumb surface tuck nest hook polish prefix suffix
        namespace sandbox gzip sign humanize rotate crop shard partition backfill soft-delete
        archive expire invalidate prime fork autofix alphabetize dedent pluralize memoise
        instrument craft compose draft author factor spread unroll unwind untangle disentangle
        rearrange reposition realign rebalance recreate regenerate rehash relocate remap
        reorganise reshape resurrect retire retrofit rewire segregate separate serialise
        shield slice specify speed stabilise stabilize streamline strengthen subtract
        supplement tabulate template transform transpose unblock unhide uniquify unpack upsert
        utilise utilize vectorise widen weaken zero bulletproof idempotent-ify disallow treat
        substitute clean dismiss echo embed enrich enlarge fake force honor honour impose
        iterate nail omit opt overload pair pick plug pop postpone prefer promote qualify
        quote rate-limit reconcile recompute redact refresh register relabel require reserve
        respect retain reveal rewind sample scroll seed shuffle signal snap sort source span
        spell step stretch strike subscribe sweep swipe symlink tail tally target terminate
        tick tokenize trap tune uncapitalize underline unsubscribe vary wipe word yield zoom
    """,
    "run": """
        run rerun re-run execute launch start restart boot invoke trigger crank kick smoke
        serve dry-run exercise spin perform profile bench measure relaunch reboot re-execute
    """,
    "test": """
        test tests tset tets testing suite build builds lint linter linting compile
        compilation typecheck type-check formatter benchmark benchmarks migration migrations
        install deploy ci e2e unittest unittests spec specs checks rebuild recompile
        pre-commit dependencies deps typechecker pipeline packages typechecking
    """,
    "find": "find locate search grep hunt list enumerate count lookup gather",
    "explain": """
        explain elaborate understand teach outline interpret confused curious tl;dr tldr eli5
    """,
    "ask": "wondering wonder tell",
    "review": """
        review critique proofread sanity-check audit roast nitpick double-check doublecheck
        eyeball vet spot assess evaluate peek scan glance rate judge grade qa cr once-over
    """,
    "debug": """
        debug investigate diagnose troubleshoot triage root-cause analyze analyse bisect
        pinpoint reproduce trace
    """,
    "push": "push publish ship send backup land upload",
    "sync": "sync synchronize synchronise",
    "commit": "commit committing check-in amend stage squash stash",
    "pushing": "pushing syncing",
    "look": "look check see verify inspect examine view",
    "show": "show print",
    "help": "usage commands capabilities tutorial onboarding examples example help",
    "bot": "codexbridge @dev @bot agent laptop machine gateway",
    "status": "status progress eta queued pending satus stauts standing",
    "task": "task tasks job jobs request requests thing proposal proposals",
    "done": """
        done finished finish complete completed ready landed still running waiting expires
        expired underway working connected online alive busy offline available free executed
        applied succeeded
    """,
    "diff": """
        head~1 head~3..head head changes diff diffs pr prs mr commits staged uncommitted
        unstaged staging branch branches edits changeset modifications refactoring patches
        worktree unpushed unmerged hunks head~2 differs differ
    """,
    "program": """
        npm pnpm yarn npx bun bunx deno node python python3 python2 pip pip3 pipx uv uvx
        poetry pipenv hatch nox pytest tox ruff mypy pyright flake8 pylint isort bandit eslint
        prettier tsc ts-node vite jest vitest mocha ava karma cypress playwright cargo rustc
        rustup rustfmt clippy cmake ctest ninja bazel gradle gradlew mvn mvnw sbt dotnet javac
        java ruby rake rails rspec rubocop php composer phpunit artisan docker docker-compose
        podman kubectl helm terraform ansible ansible-playbook git gh ls rm mkdir touch curl
        wget bash zsh sudo chmod chown brew flutter dart xcodebuild adb mix iex webpack rollup
        esbuild turbo lerna nx ng vue-cli-service alembic flask uvicorn gunicorn django-admin
        celery psql mysql redis-cli sqlite3 jq sed awk shellcheck golangci-lint gofmt biome
        gotestsum swiftlint ktlint detekt coverage hypothesis stylelint tsx nodemon pm2
        serverless wrangler vercel netlify firebase aws gcloud az
    """,
    "programlike": "go swift black fab cat cp mv sh tree ps",
    "fail": """
        fail failing failure failures error errors exception exceptions crash crashing broken
        bug bugs buggy hang hanging freeze frozen stuck timeout timeouts traceback stacktrace
        stacktraces leak leaking flaky flicker flickers flickering undefined nan segfault
        segfaults segmentation oom blank deadlock deadlocks wrong incorrect incorrectly weird
        strange slow slower sluggish unresponsive denied refused rejected forbidden
        unauthorized conflict conflicts missing gone lost corrupted corrupt garbled mojibake
        duplicates forever spinning spins infinite overflow overflows npe nullpointerexception
        keyerror typeerror valueerror importerror attributeerror modulenotfounderror
        assertionerror runtimeerror syntaxerror indexerror referenceerror keeps throwing
        regression regressed panic panics panicked misaligned overlaps overlap kaput borked
        busted hiccups disconnects disconnected drops 100% white stale malformed fial fials
        complains complaining killed unreachable unexpected unexpectedly nowhere ignored
        looping stutters lags laggy glitches glitchy red flashes jumps down janky jerky dead
        wonky mess messes messed crazy garbage nonsense unusable choppy bonkers climbs
        climbing spikes spiking eats eating outage incident wrongly unstable intermittent
        intermittently randomly suddenly double-charged truncated clipped misplaced empty
        warning warnings eacces enoent eaddrinuse econnrefused eresolve etimedout sigsegv
        sigkill non-zero dump cors handshake 404s 500s 502s 503s 504s bounced bounces
        unauthorised unhandled uncaught unresolved unrecognized invalid mismatch mismatched
        mismatches inconsistent nondeterministic unreadable unreliable hiccup jitter scrambled
        rejects
    """,
    "weak": "twice doubled duplicated too already got gets getting",
    "thing": """
        runtime run-time startup start-up code page pages bar box field fields form forms
        button buttons message messages text handler handlers handling helper helpers script
        scripts service services worker workers endpoint endpoints api apis flow flows steps
        logic function functions method methods class classes module modules component
        components screen screens dialog dialogs modal views panel menus table tables index
        results result event events hooks callback callbacks time config configuration
        settings option options flags data fixture fixtures case cases system engine feature
        features process tool tools icon icons title titles file files folder folders
        directory project repo repository app application site database db user users login
        logout session token tokens key keys header footer sidebar navbar input output
        dropdown column columns row rows lists query queries schema model models controller
        router routes variable variables constant constants imports name names value values
        string comments docs documentation readme changelog typo typos package library
        dependency plugin extension middleware notification notifications language tooltip
        avatar image images mode layout width height padding margin cart checkout order orders
        payment payments email emails password passwords webhook webhooks production prod
        website css html js json yaml xml csv pdf sql regex cron container containers pod pods
        cluster customer customers client clients browser browsers chrome safari firefox
        iphone android ios mac linux windows dates date day days hour hours minutes seconds
        url urls link links font fonts timezone locale currency price prices total totals sum
        invoice invoices report reports chart charts graph graphs dashboard account accounts
        searchbar uploads download downloads scrollbar cursor tab tabs card cards badge banner
        carousel placeholder loader spinner skeleton parser lexer compiler serializer
        validator scheduler thread threads connection connections socket sockets buffer memory
        cpu disk network bandwidth latency throughput certificate secrets credential
        credentials role roles tenant tenants listener subscriber publisher broker topic
        replica cronjob snapshot bucket object objects array arrays tuple dict enum struct
        trait interface generic templates stylesheet sprite asset assets bundle chunk chunks
        polyfill shim wrapper adapter decorator singleton factory observer iterator generator
        promise promises closure lambda mixin salt nonce cookie cookies body payload response
        responses backoff env environment environments logger logs metrics tracing telemetry
        alerting makefile dockerfile gitignore editorconfig tsconfig package.json pyproject
        seeds sdk repl hotkey shortcut shortcuts gesture camera mic microphone speaker inbox
        mailbox mail smtp sms otp captcha oauth sso saml jwt csrf
    """,
    "occur": """
        usages references occurrences occurrence callers uses definition definitions instances
        mentions implementations places
    """,
    "use": """
        using used call calls calling importing contain contains containing reference mention
        touches defined declared implemented lives live located handled registered configured
        mentioned called written stored invokes inherits extends import use
    """,
    "remote": """
        remote origin upstream github gitlab gitee gitea bitbucket origin/main origin/master
        main master trunk github's
    """,
    "with": "saying",
    "passing": "pass passes passing green succeed succeeds compiles",
    "exists": "anywhere anyone anything any",
    "desire": "lacks",
    "approve": """
        approves approval approvals approving confirm confirmed confirms confirmation
        confirmations authorize authorise authorized authorised authorization permission
        consent permit prompting approve greenlit sign-off blessing go-ahead rubber-stamp
        rubberstamp clearance approved say-so vouch gatekeeper two-factor guardrails
    """,
    "yes": """
        yes yea lgtm sgtm proceed agreed accepted +1 granted yep greenlight roger affirmative
        absolutely definitely certainly yess yesss yup
    """,
    "nope": "nope nah reject decline declined deny",
    "apply": "apply",
    "noask": "autoaccept auto-confirm auto-run yolo unattended",
    "skip": "bypass skip auto circumvent override",
    "greet": """
        bye goodbye cool nice great awesome perfect wow lol sweet lovely brilliant fantastic
        welcome howdy sup yo evening greetings ta ty understood noted amazing haha lmao hm
        nevermind joke weather oops later ttyl congrats congratulations yay hooray bravo merci
        danke gracias ciao hola bonjour
    """,
    "undo": "undo",
    "cancel": "cancel abort stop",
    "standing": "ping",
    "code": "'",
    "edit": """
        save load log filter export mark label tag queue lock comment type hash batch retry
        route color style theme scale focus map group join store record cover mock stub flag
        reset return wait close open copy paste cut redirect display support limit document
        version patch notify prompt alert warn dial parse cache prune persist fire emit cast
        throw
    """,
    "botask": "menu manual cheatsheet sos",
    "gist": """
        gist summary overview rundown explanation walkthrough tour background intuition
        breakdown high-level primer
    """,
    "off": "disable kill remove",
    "ok": "ok okay alright sure k kk yeah",
    "cause": "cause culprit",
    "pull": "pull fetch rebase",
    "failed": """
        failed fails crashes crashed broke breaks hangs hung throws threw freezes froze
        errored died dies disappears disappeared stops stopped closes loops leaks returns
        shows gives
    """,
    "make": "make give redo repeat get grab",
    "verdict": "mergeable",
    "digest": "summarize summarise compare recap describe",
    "faring": "coming going doing faring progressing",
    "domain": "workspace workspaces pairing privacy teammate teammates receipt receipts approver",
    "merge": "merge",
    "nature": "difference differences meaning rationale tradeoff tradeoffs",
    "none": "nothing",
}

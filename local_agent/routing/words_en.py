"""The English words that tell the router something, by tag (`tags`).  Pure data.

Base forms stand for wishes: "fixed" and "fixing" tell of something and are listed only where that
helps.  A phrase is one entry with its words joined by ``_``.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "please": """
        please pls plz kindly hi hello hey morning um uh er hmm so like well right now again
        quickly quick actually basically really maybe perhaps thanks thank thx cheers guys
        buddy mate dude bro bot also just simply only directly first then next finally
        honestly btw anyway sorry help_me_to help_me you_know i_mean kind_of sort_of
        thank_you go_ahead_and feel_free_to i'd_like_to i'd_like_you_to i_would_like_to
        i_would_like_you_to i_want_to i_want_you_to i_need_to i_need_you_to i_wanna
        i'd_love_to i'd_love_you_to we_need_to we_want_to we'd_like_to we_have_to i_have_to
        gonna wanna you_need_to you_have_to you_should let's lets let_us let_me be_honest
        quick_one todo: task: it's_time_to time_to try_to try_and be_sure_to remember_to
        don't_forget_to make_sure_to if_you_can if_possible when_you_can when_you_have_time
        for_me as_well one_more_thing good_morning good_afternoon good_evening asap
        first_of_all do_me_a_favor_and do_me_a_favour_and want_you_to need_you_to
        like_you_to your_job_is_to the_goal_is_to goal_is_to my_request_is_to
        i'm_asking_you_to i_am_asking_you_to
    """,
    "canyou": """
        can_you could_you would_you will_you can_u could_u can_ya would_you_mind do_you_mind
        could_you_please can_you_please can_someone could_someone can_somebody
        any_chance_you_could any_chance_you_can any_chance_of is_there_any_chance_you_could
        i_wonder_if_you_could wondering_if_you_could wonder_if_you_could
        i_was_wondering_if_you would_it_be_possible_for_you_to
        it_would_be_great_if_you_could it'd_be_great_if_you_could
        it_would_be_nice_if_you_could i'd_appreciate_it_if_you would_appreciate_it_if_you
        can_you_just can_you_help_me could_you_help_me mind_if_you are_you_able_to
        can_you_maybe
    """,
    "i": """
        i we me us i'm we're i've we've i'd we'd i'll we'll im ive someone somebody
        everybody
    """,
    "my": """
        my our mine local
    """,
    "you": """
        you u you're your yourself
    """,
    "it": """
        it this that these those they them there here he she its their everyone it's they're
        there's it'll there_is there_are there_was there_were
    """,
    "is": """
        it's_not
    """,
    "det": """
        the a an teh all every each some both another several many more most few no entire
        whole full following current latest other same new old
    """,
    "prep": """
        in on at of for with from by into onto as over under via per through across around
        about between against inside outside within upon up out off back away along than
        towards like_this near behind above below toward
    """,
    "to": """
        to
    """,
    "can": """
        can could may might would will
    """,
    "should": """
        should shall must ought can_we could_we may_i may_we can_i could_i shall_we
    """,
    "want": """
        want wants need needs wish hope prefer would_like require requires wanted needed
    """,
    "be": """
        is are was were am been being be that's here's seems looks
    """,
    "do": """
        does did do
    """,
    "have": """
        has have had having
    """,
    "without": """
        without instead_of rather_than not_to
    """,
    "neg": """
        don't dont do_not never no_need_to no_need please_don't not avoid_running
        avoid_changing stop_running no_changes no_edits no_change no_more no_edit hold_off
        refrain_from there's_no_need i_don't_want i_do_not_want we_don't_want
        you_don't_need_to no_reason_to not_yet leave_alone you_must_not we_must_not
        you_should_not we_should_not you_shouldn't we_shouldn't make_sure_you_don't
        make_sure_not_to be_careful_not_to let's_not lets_not you_may_not you_can't_just
        don't_you_dare i'd_rather_you_didn't i_would_rather_you_didn't i_didn't_ask_you
        i_never_asked_you nobody_asked_you i_didn't_say nobody_said i_never_said
        under_no_circumstances avoid_trying refuse_to leave_it leave_everything leave_my
        leave_the_code hands_off keep_your_hands keep_off read-only read_only no_touching
        no_touch no_modifications no_code_changes no_code no_commits no_pushing no_running
        nothing_should_be
    """,
    "cannot": """
        can't cannot couldn't won't wont doesnt didn't isn't aren't wasn't weren't unable
        hasn't haven't wouldn't shouldn't does_not did_not is_not are_not was_not will_not
        can_not could_not has_not have_not no_longer never_finishes fails_to failed_to
        nothing_happens do_nothing does_nothing nothing dosent dosn't doesn't dont_work
        don't_work do_not_work cant didnt isnt arent hasnt wouldnt
    """,
    "why": """
        why how_come whats_the_reason why_can't why_cant why_won't why_wont why_can_i_not
        why_doesn't_it_work why_isn't_it_working why_is_it_not_working why_doesn't_this_work
        how_come_i_can't why_does_it_keep why_do_i_get why_am_i_getting why_am_i_seeing
        why_do_i_see why_are_we_getting why_do_we_get why_is_it_so_slow
    """,
    "how": """
        how
    """,
    "what": """
        what what's whats what're which_is what_is
    """,
    "where": """
        where where's wheres whereabouts what_calls what_uses what_imports what_references
        what_depends_on who_imports which_module which_modules which_file which_files
        what_file what_files which_function which_functions which_class which_classes
        which_folder which_directory which_package which_component which_components
        which_endpoint which_endpoints which_test which_tests which_line which_lines
        which_place which_places how_many_files how_many_places how_many_times_is
        how_many_usages how_many_functions how_many_tests any_place every_file_that
        all_files_that all_the_files files_that_use anywhere_we used_anywhere still_used
        in_use anywhere_else entry_point_for in_what_file in_which_file in_which_module
    """,
    "who": """
        who who's whose whom
    """,
    "which": """
        which
    """,
    "whether": """
        whether is_it_safe is_it_ok is_it_okay is_it_possible is_it_a_good_idea
        would_it_be_a_good_idea does_it_make_sense what_happens_if what_happens_when
        what_would_happen would_it_be_better would_it_make_sense is_it_fine is_it_better
        is_it_necessary do_i_need do_we_need do_i_have_to do_we_have_to what_if
        am_i_supposed_to are_we_supposed_to wondering_if wonder_if is_that_safe is_that_ok
        is_that_okay is_that_right is_this_ok is_this_okay is_this_right will_that_break
        would_that_break is_that_a_good_idea is_this_a_good_idea good_idea bad_idea
        is_that_bad is_it_bad is_that_possible is_that_wise would_that_help would_it_help
        would_this_help will_that_work would_that_work will_it_work would_it_work
        does_that_work does_that_make_sense makes_sense any_downside any_downsides any_harm
        any_risk any_risks any_danger any_drawback worth_it is_it_worth would_you_recommend
        have_you_tried what_about is_it_a_bad_idea is_there_a_way is_there_any_way
        is_there_a_good_way not_sure_if not_sure_whether unsure_whether unsure_if
        can't_decide whether_or_not or_not safe_to risky_to dangerous_to ok_to okay_to
        wise_to thinking_of thinking_about considering suppose assuming imagine
        hypothetically in_theory theoretically
    """,
    "and": """
        and plus & && + also_please afterwards followed_by
    """,
    "but": """
        but however just_only except yet instead
    """,
    "or": """
        or nor either neither
    """,
    "when": """
        when if before after while because since until unless although though whenever
        as_soon_as so_that in_order_to even_though
    """,
    "rel": """
        that_is that_are who_is which_are
    """,
    "change": """
        fix implement refactor add delete create replace improve upgrade bump migrate write
        rewrite convert extract inline introduce turn swap put wrap unwrap combine simplify
        tidy organize reorganize organise restructure reorder align center adjust tweak
        correct resolve solve eliminate strip trim insert append prepend inject lower
        increase decrease reduce shorten extend expand restrict validate sanitize sanitise
        encode decode encrypt translate localize localise internationalize annotate memoize
        debounce throttle paginate lazy-load preload defer parallelize parallelise vectorize
        optimize optimise dedupe deduplicate consolidate unify standardize standardise
        normalize normalise generalize abstract decouple isolate encapsulate hardcode
        parametrize parameterize configure expose pin unpin downgrade deprecate restore
        rollback adapt wire connect integrate scaffold generate ensure guard protect secure
        harden tighten loosen relax bind unbind attach detach resize shrink round truncate
        pad indent capitalize lowercase uppercase invert flip reverse collapse animate
        flatten delay exclude include overwrite delegate hoist lift silence suppress mute
        bring modify alter fill populate prefill autofill purge duplicate rethrow catch
        propagate vendor assert rename revert backport port let enable allow prevent hide
        split drop clean_up speed_up rip_out factor_out take_out pull_out hook_up wire_up
        set_up switch_to turn_on turn_into sort_out help_me_fix reword rephrase document_the
        address_the stop_logging stop_using start_using use_the bold italicize colour
        colorize recolor darken lighten shift nudge pull_the raise_the keep make_sure
        have_the supply return_a reformat reindent modernize rework overhaul revamp beautify
        prettify shave unset define declare exports escape unescape compress zip minify
        bundle_the await async wait_for hide_the display_a replace_the comment_out uncomment
        sync_the_two subclass implement_a bail abort_if have_it reject_requests reject_empty
        position place anchor phase_out serialize deserialize stringify_the read_the
        store_the gate feature-flag license dockerize containerize typehint type-hint
        autoformat canonicalize cap clamp email_the greet tell_the_user require_a swallow
        squash_the cancel_the_request cherry-pick rebrand retitle reuse decorate clarify
        change edit switch set toggle render render_x handle raise move update swap_out nuke
        ditch axe chuck toss slap throw_in stick whip_up knock_up beef_up spruce_up
        tone_down hardwire whitelist blacklist allowlist plumb thread_through surface
        bubble_up tuck nest hook patch_up polish prefix suffix namespace sandbox gzip sign
        humanize rotate crop shard partition backfill soft-delete archive expire invalidate
        prime fork autofix alphabetize dedent pluralize memoise instrument craft compose
        draft author cook_up come_up_with put_together bolt_on bake_in hide_away tidy_up
        polish_up beautify_the trim_down cut_down scale_down scale_up slim_down strip_out
        pull_in bring_in factor move_out carve_out break_up break_out chop_up spread unroll
        unwind untangle disentangle rearrange reposition realign rebalance recreate
        regenerate rehash relocate remap rename_the reorganise reset_the reshape resurrect
        retire retrofit rewire rework_the rewrite_the sanitise_the secure_the segregate
        separate serialise shield simplify_the slice sort_the specify speed stabilise
        stabilize streamline strengthen substitute subtract suffix_the supplement swap_the
        tabulate template teach_it throttle_the tighten_up transform transpose trim_the
        unblock undo_the unhide unify_the uniquify unpack unroll_the upsert utilise utilize
        vectorise widen weaken wrap_the zero zero_out bulletproof idempotent-ify
        optimise_the gate_the guard_the harden_the make_the make_this make_that make_it
        make_all make_every make_sure_that
    """,
    "run": """
        run rerun re-run execute launch start restart kick_off fire_up spin_up boot invoke
        start_up run_through have_a_go_at bring_up give_the_tests give_it_a_spin
        give_it_a_run trigger fire_off crank kick smoke try_out stand_up serve do_a_build
        do_a_full_build do_a_clean_build do_a_test_run do_a_dry_run do_a_run dry-run dry_run
        make_a_build get_the_tests_going get_the_app_running get_the_server_up
        get_the_server_running bring_the_server_up put_the_tests_through exercise seed_the
        apply_the_migrations apply_migrations run_through_the shut_down spin
        have_another_go_at perform give_the_suite profile bench measure relaunch reboot
        reload_the_server boot_up start_it hit_run re-execute try_the_tests do_another_run
        format_the_code format_code reformat_the_code format_everything format_the_project
        format_the_repo format_all try_running
    """,
    "test": """
        test tests tset tets testing suite pytest_suite build builds lint linter linting
        compile compilation typecheck type-check type_check formatter benchmark benchmarks
        migration migrations install deploy ci unit_tests integration_tests e2e unittest
        unittests spec specs checks check_types e2e_tests regression_tests rebuild recompile
        pre-commit test_suite coverage_report dependencies deps typechecker type_checker
        playwright_tests dev_server pipeline smoke_test smoke_tests test_run full_build
        clean_build debug_build release_build packages lockfile_install typechecking
        formatting_check format_check
    """,
    "find": """
        find locate search grep look_for look_up hunt hunt_down track_down dig_up search_for
        find_me list_all list enumerate show_all dig_out fish_out point_me_to point_me_at
        take_me_to get_me_the_file looking_for i'm_looking_for i_am_looking_for count lookup
        trace_all spot_all scan_for scan_the_code_for search_through comb_through go_find
        pick_out round_up gather find_out_where find_out_which find_out_who open_the_file
        open_file show_the_file show_me_the_file pull_up_the_file bring_up_the_file
    """,
    "explain": """
        explain walk_me_through walk_us_through talk_me_through clarify_how
        give_me_an_overview give_an_overview elaborate understand help_me_understand
        teach_me teach tell_me_about tell_me_more outline break_down interpret
        i_don't_understand i_don't_get i_do_not_understand don't_understand don't_get
        don't_really_get i_don't_really_get i'm_confused confused curious tl;dr tldr
        overview_of an_overview_of explain_to_me eli5 shed_light_on make_sense_of
        want_to_understand
    """,
    "ask": """
        wondering wonder know_why tell_me tell explain_why do_you_know i_want_to_know
        i'd_like_to_know want_to_know like_to_know let_me_know is_there_a_reason
        what's_the_point what_is_the_point what's_the_difference what_is_the_difference
        what_are_the_differences what's_the_purpose difference_between pros_and_cons
        meaning_of purpose_of what's_going_on_in remind_me i'm_trying_to_understand
        trying_to_understand thoughts_on what_do_you_think_about
    """,
    "review": """
        review critique proofread sanity-check audit roast look_over give_feedback_on
        give_me_feedback_on feedback_on look_it_over look_this_over look_that_over
        look_them_over go_over point_out second_opinion_on nitpick double-check sanity_check
        doublecheck eyeball have_a_look_at_my vet second_pair_of_eyes_on spot assess
        evaluate peek_at peek scan glance_at glance eyes_on cast_an_eye_over
        take_another_look_at rate judge grade qa give_me_your_opinion_on opinion_on
        opinions_on read_through read_over smell_test inspect_my cr lgtm_check comment_on
        once-over code_review second_look
    """,
    "debug": """
        debug investigate diagnose troubleshoot triage look_into figure_out find_out
        root-cause dig_into find_the_cause find_the_root_cause find_the_reason
        track_down_why find_out_why get_to_the_bottom_of work_out analyze analyse bisect
        find_out_what look_at_why see_why check_why find_what what's_up narrow_down pinpoint
        reproduce trace hunt_for_the_bug sort_out_why chase_down get_to_the_root
    """,
    "push": """
        push publish ship send back_up backup push_it put_up get_up save_to push_the_fix
        ship_the_fix land publish_my get_this_upstream get_it_upstream send_upstream ship_my
        push_up push_out force_nothing push_my push_all push_everything git_push upload
    """,
    "sync": """
        sync synchronize synchronise
    """,
    "commit": """
        commit check_in stash_and committing check-in commit_the_fix make_a_commit
        create_a_commit stage_and_commit wip_commit snapshot_my save_my_progress
        put_this_in_git put_it_in_git check_this_in check_it_in check_my check_everything_in
        amend git_commit do_a_commit commit_all commit_everything add_and_commit stage
        stage_everything
    """,
    "pushing": """
        pushing syncing
    """,
    "look": """
        look check see take_a_look have_a_look look_at take_a_look_at have_a_look_at verify
        inspect examine view a_look any_idea any_ideas any_clue any_thoughts_on_why
    """,
    "show": """
        show show_me display_the print give_me list_the show_my list_my
    """,
    "help": """
        usage commands capabilities tutorial docs_for_you what_can_you_do what_do_you_do
        who_are_you what_are_you onboarding what_can_i_ask what_can_i_do what_do_you_support
        what_can_you_help examples example available_commands how_to_use_you help
    """,
    "bot": """
        codexbridge @dev @bot agent laptop machine gateway
    """,
    "status": """
        what_happened_to go_through went_through status progress eta queued pending
        update_on state_of status_of news_on satus stauts standing in_the_queue the_queue
    """,
    "task": """
        task tasks job jobs request requests refactor_i_asked thing approval_request
        proposal proposals
    """,
    "done": """
        done finished finish complete completed ready landed still running waiting expires
        expired in_progress underway going doing working_on working connected online alive
        busy offline available free executed applied succeeded
    """,
    "diff": """
        what_did_i_change what_have_i_changed what_i_changed what_has_changed what_changed
        what's_changed last_commit latest_commit last_commits recent_commits my_commit
        this_commit the_commit my_patch this_patch my_change this_change my_fix
        my_refactoring my_code head~1 head~3..head head latest_changes recent_changes
        local_changes changes diff diffs patch_set pr prs mr pull_request pull_requests
        merge_request commits working_copy working_tree staged uncommitted unstaged staging
        branch branches my_work edits changeset modifications refactoring patches worktree
        work_tree what_i_did unpushed unmerged hunks what_i_wrote what_i_have_so_far
        what_i've_done what_i_just_did what_i_just_wrote what_i_just_changed
        the_code_i_wrote code_i_wrote code_i_just_wrote i_just_wrote i_wrote i_just_changed
        i_changed i_touched i_added i_modified i_edited my_implementation my_solution
        my_approach modified_files changed_files files_i_changed files_i_touched did_i_touch
        did_i_change did_i_modify have_i_touched have_i_changed what's_in_my
        working_directory stash my_stash head~2 last_3_commits last_two_commits
        last_few_commits recent_work my_last my_latest my_recent today's_changes
        yesterday's_changes differs differ local_edits feature_branch current_branch
    """,
    "program": """
        npm pnpm yarn npx bun bunx deno node python python3 python2 pip pip3 pipx uv uvx
        poetry pipenv hatch nox pytest tox ruff mypy pyright flake8 pylint isort bandit
        eslint prettier tsc ts-node vite jest vitest mocha ava karma cypress playwright
        cargo rustc rustup rustfmt clippy cmake ctest ninja bazel gradle gradlew mvn mvnw
        sbt dotnet javac java ruby rake rails rspec rubocop php composer phpunit artisan
        docker docker-compose podman kubectl helm terraform ansible ansible-playbook git gh
        ls rm mkdir touch curl wget bash zsh sudo chmod chown brew flutter dart xcodebuild
        adb mix iex webpack rollup esbuild turbo lerna nx ng vue-cli-service alembic flask
        uvicorn gunicorn django-admin celery psql mysql redis-cli sqlite3 jq sed awk
        shellcheck golangci-lint gofmt biome gotestsum swiftlint ktlint detekt coverage
        hypothesis stylelint tsx nodemon pm2 serverless wrangler vercel netlify firebase aws
        gcloud az
    """,
    "programlike": """
        go swift black fab cat cp mv sh tree ps
    """,
    "fail": """
        fail failing failure failures error errors exception exceptions crash crashing
        broken bug bugs buggy hang hanging freeze frozen stuck timeout timeouts timing_out
        traceback stacktrace stacktraces stack_trace stack_traces leak leaking flaky flicker
        flickers flickering undefined nan segfault segfaults segmentation oom blank deadlock
        deadlocks race_condition wrong incorrect incorrectly weird strange slow slower
        sluggish unresponsive denied refused rejected forbidden unauthorized conflict
        conflicts missing gone lost corrupted corrupt garbled mojibake duplicates forever
        spinning spins infinite overflow overflows npe nullpointerexception keyerror
        typeerror valueerror importerror attributeerror modulenotfounderror assertionerror
        runtimeerror syntaxerror indexerror referenceerror something's_off not_working
        doesn't_work does_not_work stopped_working stops_working keeps keep_getting
        out_of_memory too_big too_slow too_long goes_white goes_blank acting_up messed_up
        screwed_up throwing regression regressed permission_denied no_such_file
        connection_refused panic panics panicked misaligned overlaps overlap cut_off kaput
        borked busted hiccups disconnects disconnected drops 100% white white_screen
        black_screen stale outdated_data off_by_one malformed fial fials goes_down went_down
        down_again not_found complains complaining killed unreachable unexpected
        unexpectedly nowhere never_ends ignored duplicate_rows looping stutters lags laggy
        glitches glitchy red flashes jumps down janky jerky dead wonky off_by out_of_sync
        mess messes messed crazy garbage nonsense unusable choppy bonkers doesn't_add_up
        don't_add_up climbs climbing spikes spiking eats eating outage incident upside_down
        wrongly unstable intermittent intermittently randomly suddenly never_arrives
        never_arrive never_loads never_returns double-charged double_charged out_of_date
        truncated clipped misplaced empty warning warnings eacces enoent eaddrinuse
        econnrefused eresolve etimedout sigsegv sigkill exit_code non-zero core_dump dump
        reset_by_peer connection_reset cors handshake 404s 500s 502s 503s 504s crashing_on
        bounced bounces unauthorised unhandled uncaught unresolved unrecognized invalid
        mismatch mismatched mismatches obsolete_data inconsistent nondeterministic
        unreadable unreliable hiccup jitter scrambled swapped_out rejects
    """,
    "weak": """
        twice doubled duplicated too again_and_again already old_value nothing_in the_old
        got gets getting
    """,
    "thing": """
        runtime run-time startup start-up code page pages bar box field fields form forms
        button buttons message messages text handler handlers handling helper helpers script
        scripts service services worker workers endpoint endpoints api apis flow flows step
        steps logic function functions method methods class classes module modules component
        components screen screens dialog dialogs modal views panel menus table tables index
        results result event events hooks callback callbacks time config configuration
        settings option options flags suite_file data fixture fixtures case cases system
        engine feature features process tool tools icon icons title titles file files folder
        folders directory project repo repository app application site database db user
        users login logout session token tokens key keys header footer sidebar navbar
        button_handler input output dropdown table_row column columns row rows lists query
        queries schema model models controller router routes variable variables constant
        constants imports name names value values string comments docs documentation readme
        changelog typo typos package library dependency plugin extension middleware
        notification notifications language page_title tooltip avatar image images dark_mode
        mode layout width height padding margin cart checkout order orders payment payments
        email emails password passwords queue_worker message_queue webhook webhooks
        production prod staging_env website css html js json yaml xml csv pdf sql regex cron
        container containers pod pods cluster node_version cache_layer customer customers
        client clients browser browsers chrome safari firefox iphone android ios mac linux
        windows dates date day days hour hours minutes seconds url urls link links
        label_text font fonts colour_scheme color_scheme theme_switcher timezone locale
        currency price prices total totals sum invoice invoices report reports chart charts
        graph graphs dashboard account accounts search_box searchbar uploads download
        downloads scrollbar cursor tab tabs card cards badge banner carousel placeholder
        loader spinner skeleton parser lexer compiler serializer validator scheduler
        worker_pool thread threads connection connections socket sockets buffer memory cpu
        disk network bandwidth latency throughput certificate secrets credential credentials
        role roles group_policy tenant tenants webhook_url listener subscriber publisher
        broker topic replica backup_job cronjob snapshot bucket object objects array arrays
        tuple dict map_view enum struct trait interface generic templates stylesheet sprite
        asset assets bundle chunk chunks polyfill shim wrapper adapter decorator singleton
        factory observer iterator generator promise promises closure lambda exception_class
        base_class subclass_name mixin hash_function salt nonce cookie cookies header_row
        body payload request_body response responses status_code status_codes rate_limit
        rate_limiter retry_logic backoff timeout_value env environment environments
        variable_name logger logs log_level log_file log_files metrics tracing telemetry
        alerting license_file makefile dockerfile gitignore editorconfig linter_config
        tsconfig package.json pyproject migrations_folder seeds fixtures_dir snapshot_tests
        mock_server stub_server sdk cli_tool repl shell_script bash_script hotkey shortcut
        shortcuts gesture camera mic microphone speaker push_token inbox mailbox mail smtp
        sms otp captcha oauth sso saml jwt csrf cors_policy origin_header
    """,
    "occur": """
        usages usage_of references reference_to occurrences occurrence callers uses
        definition definitions instances mentions implementations places everywhere_that
        all_places every_place every_usage every_use
    """,
    "use": """
        using used call calls calling importing contain contains containing reference
        mention touches defined declared implemented lives live located handled registered
        configured mentioned called written stored depends_on invokes inherits extends
        import use
    """,
    "remote": """
        remote origin upstream github gitlab gitee gitea bitbucket origin/main origin/master
        main master trunk server_repo
    """,
    "with": """
        with_message with_the_message with_a_message saying with_commit_message
    """,
    "passing": """
        pass passes passing green succeed succeeds compiles
    """,
    "exists": """
        is_there_any are_there_any is_there_a is_there_an is_there anything_using
        anything_that_uses anything_that any_code_that any_code got_any do_we_have
        do_we_still does_anything does_anyone does_anybody does_any is_anyone is_anybody
        is_anything any_file any_files anywhere have_we_got do_we_already are_there
        is_there_some is_there_something is_x_used anything_calling anything_else anyone
        anything any
    """,
    "asksbot": """
        do_you are_you do_u are_u have_you did_you were_you
    """,
    "desire": """
        we_need i_need we_want i_want i'd_like we'd_like there_should_be it_should
        would_be_nice it'd_be_nice would_be_great would_love needs_to_be need_to_be needs_to
        should_be should_have should_show should_return should_not shouldn't_be should_only
        should_also should_always should_never should_use should_say has_to_be must_be
        must_not must_have ought_to_be we_could_use we_should i_would_like i_would_love
        we'd_love could_use is_supposed_to_be lacks is_missing_a are_missing_a i'd_prefer
        we'd_prefer i_prefer would_prefer would_be_cool would_be_better would_make_sense_to
        i_wish how_about what_about_adding should_look should_open should_close should_go
        should_work_like should_stay should_come should_default should_accept should_allow
        should_reject should_fail should_throw should_log should_support should_take
        should_appear should_start should_end should_stop should_redirect should_include
        should_exclude should_contain should_live should_match should_happen should_read
        should_run should_send should_save should_store should_display should_default_to
        must_support must_accept must_use must_return must_show must_only
    """,
    "approve": """
        approves approval approvals approving confirm confirmed confirms confirmation
        confirmations authorize authorise authorized authorised authorization permission
        consent accept_this sign_off permit prompting prompt_me approval_step
        approval_prompt approval_process confirmation_step confirmation_prompt
        approval_dialog confirmation_dialog_for_me approval_popup approve accept_the
        accept_my accept_that allow_the seal_code approval_code confirmation_code the_seal
        seal_is code_is type_the_code enter_the_code click_approve click_yes click_ok
        click_accept press_approve press_yes press_enter hit_approve tap_approve thumbs_up
        green_light greenlit signed_off sign-off always_allow allow_all allow_everything
        allow_any remember_my_choice blessing go-ahead rubber-stamp rubberstamp whitelist_me
        clearance cleared_to my_consent my_word i'm_authorized i_am_authorized approved
    """,
    "yes": """
        yes yea lgtm sgtm ship_it go_ahead go_for_it do_it just_do_it proceed agreed
        accepted +1 looks_good i_agree permission_granted granted go_on carry_on sounds_good
        sounds_great looks_fine merge_it yes_please do_so yep consider_it make_it_so
        push_it_through i_authorize i_allow i_hereby please_proceed accept_it allow_it
        greenlight let_it_run let_it_through let_it_go you_may you_may_proceed you_can_go
        you_can_run you_can_proceed you_can_go_ahead you_can_start i'm_fine_with i'm_ok_with
        i'm_okay_with i_am_fine_with works_for_me that_works all_good good_to_go
        good_from_my_side fine_by_me fine_with_me no_objections i'm_good roger affirmative
        absolutely definitely of_course certainly by_all_means make_it_happen execute_it
        fire_away let's_go lets_go yeah_do_it yess yesss yup
    """,
    "nope": """
        nope nah reject decline declined deny
    """,
    "apply": """
        apply
    """,
    "noask": """
        stop_asking stop_asking_me without_asking without_asking_me don't_ask don't_ask_me
        dont_ask no_need_to_confirm no_need_to_ask no_need_to_approve no_confirmation
        stop_prompting never_ask no_approval_needed no_approval no_questions_asked
        don't_prompt don't_bother_asking auto-approve autoapprove automatically_approve
        no_need_for_approval no_need_for_confirmation stop_nagging stop_nagging_me
        just_apply stop_bothering stop_bugging without_confirmation without_my_approval
        without_approval without_any_approval no_more_confirmations no_more_approvals
        no_more_dialogs no_popups no_dialogs without_waiting_for_me without_confirming
        without_prompting without_my_confirmation don't_wait do_not_wait no_need_to_wait
        without_waiting dont_wait trust_me i_trust_you never_ask_me_again stop_the_prompts
        stop_the_dialogs no_prompts skip_the_prompt skip_the_popup skip_confirmation
        skip_confirmations skip_approvals skip_approval skip_the_approval
        skip_the_confirmation bypass_approval bypass_the_approval ignore_the_approval
        ignore_approvals override_the_approval force_approve auto-accept auto_accept
        auto_approve autoaccept auto-confirm auto-run yolo yolo_mode unattended silently_run
        bypass_the_dialog skip_the_dialog skip_the_dialogs without_the_dialog
        bypass_the_prompt bypass_the_confirmation bypass_confirmation bypass_approvals
    """,
    "skip": """
        bypass skip auto circumvent override
    """,
    "greet": """
        hello_there good_night bye goodbye cool nice great awesome perfect wow lol hi_there
        hey_there you_around are_you_there are_you_around anyone_there anybody_there
        nice_work good_job great_job well_done sweet lovely brilliant fantastic
        much_appreciated appreciate_it you_rock welcome howdy sup yo evening greetings ta ty
        got_it understood noted good_bot amazing cool_thanks haha lmao hm ok_thanks
        never_mind nevermind no_worries testing_testing test_test how_are_you
        how_are_you_doing tell_me_a_joke joke i_love_you what_time_is_it what's_the_weather
        weather wrong_chat wrong_window oops good_one wake_up have_a_nice_day see_you see_ya
        later ttyl happy_friday long_time_no_see nice_to_meet_you pleased_to_meet_you
        congrats congratulations yay hooray bravo merci danke gracias ciao hola bonjour
        accept_cookies
    """,
    "undo": """
        undo roll_back
    """,
    "cancel": """
        cancel abort stop
    """,
    "standing": """
        where_are_we where_are_we_with where_do_we_stand what_happened_to_my
        what_happened_to_the_task how's_it_going hows_it_going how_is_it_going
        how's_that_going how_far_along how_far how_far_are_you any_update any_updates
        any_update_on any_news any_news_on any_progress any_progress_on
        what_are_you_working_on what_are_you_doing what_are_you_up_to how's_my how_is_my
        how_are_my what_is_running what's_running what's_pending what's_waiting
        how_long_until progress_report status_report status_update are_you_done
        are_you_still are_you_finished have_you_finished is_it_done is_it_ready
        is_it_finished how_much_longer did_it_work is_it_working_yet are_we_there_yet
        what's_left what_is_left still_waiting when_will_it_be_done when_will_it
        when_will_that any_results anything_new what_did_you_do what_have_you_done
        did_you_get_my did_you_see_my did_you_receive ping last_task last_result
        latest_result what_came_out_of how_did_it_go how_did_that_go how's_everything
        what's_happening_with what's_the_latest what's_the_holdup still_running still_going
        all_done done_yet ready_yet finished_yet what's_next is_anything_running
        anything_running anything_pending anything_waiting what_happened_with
        does_anything_need is_the_agent is_my_machine is_my_laptop is_the_bot is_my_computer
        which_machine my_queue you_finished how_many_tasks what_tasks which_tasks my_tasks
        my_requests open_requests pending_requests pending_approvals waiting_for_approval
        waiting_for_my_approval waiting_on_me waiting_for_me need_my_approval
        needs_my_approval did_you_start have_you_started is_there_anything_i_need
        what's_the_hold_up how's_my_request did_that_finish did_this_finish still_on_it
        you_done where_did_we_leave_off current_tasks recent_tasks running_tasks open_tasks
        show_running task_history my_history needs_my_attention need_my_attention
        what_did_i_ask when_did_you what_became_of how_goes how_goes_it how's_that_coming
        how_is_that_coming coming_along any_luck any_luck_with what's_taking what_is_taking
        been_approved is_that_done is_this_done did_it_finish did_it_go did_it_run
        did_it_pass did_it_succeed did_that_work did_you_push did_you_fix did_you_run
        did_you_finish did_you_do have_you_pushed have_you_fixed have_you_run have_you_done
        are_you_working are_you_running are_you_on are_you_busy are_you_free are_you_online
        are_you_ready are_you_up what's_your_status where_does_my where_is_my_task
        where's_my_task where's_my_request on_track
    """,
    "wrong": """
        what's_wrong whats_wrong what_is_wrong what's_up_with what_went_wrong
        what_goes_wrong what's_going_on what's_happening what's_broken what's_failing
        what_happened_here what's_causing what_is_causing the_cause_of root_cause
        whats_going_on what_broke what_causes what_caused what_could_be_wrong
        what_might_be_wrong what_is_breaking what's_breaking what_is_failing what_makes_it
        what's_making what_is_making what's_eating what_is_eating what's_blocking
        what_is_blocking
    """,
    "code": """
        '
    """,
    "edit": """
        save load log sort filter export mark label tag queue lock comment type hash batch
        retry route color style theme scale focus map group join store record cover mock
        stub flag reset return wait close open copy paste cut redirect display support limit
        document version patch notify prompt alert warn dial parse cache translate_x show_a
        prune persist fire emit cast throw
    """,
    "botask": """
        can_you_write_code can_you_see can_you_access can_you_read can_you_hear
        can_you_understand can_you_speak can_you_remember can_you_learn can_you_access_my
        do_you_support do_you_speak do_you_have_access do_you_store do_you_remember
        do_you_work do_you_run are_you_a are_you_an are_you_able are_you_using are_you_gpt
        who_made_you who_built_you what_model what_models which_model is_this_a_bot
        is_this_bot how_do_you_work how_can_you what_else_can_you what_all_can_you
        what_are_you_able what_are_you_capable what_can_i_type what_should_i_type
        what_to_type what_can_i_say is_there_a_manual is_there_documentation
        is_there_a_guide is_there_a_list_of_commands what_kind_of_things list_of_commands
        your_commands list_your menu manual user_guide cheat_sheet cheatsheet how_to_start
        how_do_i_start how_do_i_get_started getting_started get_started what_can_i_ask_for
        what_things_can introduce_yourself about_you your_capabilities what_is_codexbridge
        what_do_you_need what_can_this this_bot the_bot
    """,
    "gist": """
        gist summary overview rundown explanation walkthrough tour background intuition
        tldr_of breakdown high-level crash_course primer
    """,
    "off": """
        turn_off disable stop_showing get_rid_of kill switch_off remove
    """,
    "ok": """
        ok okay alright sure k kk yeah
    """,
    "cause": """
        cause reason_for source_of root_of origin_of culprit reason_why
    """,
    "quality": """
        any_concerns anything_missing_in any_mistakes look_right look_ok look_okay look_good
        looks_ok looks_right look_sane look_correct correct_so_far
    """,
    "pull": """
        pull pull_the_latest pull_latest fetch fetch_the_latest get_the_latest get_latest
        rebase merge_main merge_master update_from_remote update_from_main update_my_branch
        sync_my_fork pull_from pull_down git_pull git_fetch
    """,
    "failed": """
        failed fails crashes crashed broke breaks hangs hung throws threw freezes froze
        errors_out errored blew_up blows_up died dies times_out timed_out disappears
        disappeared stops stopped closes loops leaks returns shows gives takes_forever
        takes_ages takes_too_long
    """,
    "make": """
        make give redo repeat get grab do_a do_another do_the have_a take_a
    """,
    "verdict": """
        mergeable ready_to_merge good_to_merge safe_to_merge ok_to_merge okay_to_merge
        good_enough_to_merge anything_suspicious any_red_flags any_smells any_code_smells
        did_i_break did_i_miss did_i_forget have_i_missed have_i_forgotten have_i_broken
        anything_i_missed anything_i_forgot anything_wrong_with anything_off_with
        any_problems_with any_issues_with any_issues_in any_bugs_in any_problems_in
        any_mistakes_in
    """,
    "digest": """
        summarize summarise compare recap describe
    """,
    "count": """
        how_many
    """,
}

"""The English phrases that tell the router something, by class (`tags`).  Pure data.

The words of a phrase are joined by ``_``; the longest that stands at a place is taken.
"""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "please": """
        help_me_to help_me you_know i_mean kind_of sort_of thank_you go_ahead_and feel_free_to
        i'd_like_to i'd_like_you_to i_would_like_to i_would_like_you_to i_want_to i_want_you_to
        i_need_to i_need_you_to i_wanna i'd_love_to i'd_love_you_to we_need_to we_want_to
        we'd_like_to we_have_to i_have_to you_need_to you_have_to you_should let_us let_me
        be_honest quick_one it's_time_to time_to try_to try_and be_sure_to remember_to
        don't_forget_to make_sure_to if_you_can if_possible when_you_can when_you_have_time for_me
        as_well one_more_thing good_morning good_afternoon good_evening first_of_all
        do_me_a_favor_and do_me_a_favour_and want_you_to need_you_to like_you_to your_job_is_to
        the_goal_is_to goal_is_to my_request_is_to i'm_asking_you_to i_am_asking_you_to going_to
        i_need_a_hand_with""",
    "canyou": """
        can_you could_you would_you will_you can_u could_u can_ya would_you_mind do_you_mind
        could_you_please can_you_please can_someone could_someone can_somebody
        any_chance_you_could any_chance_you_can any_chance_of is_there_any_chance_you_could
        i_wonder_if_you_could wondering_if_you_could wonder_if_you_could i_was_wondering_if_you
        would_it_be_possible_for_you_to it_would_be_great_if_you_could it'd_be_great_if_you_could
        it_would_be_nice_if_you_could i'd_appreciate_it_if_you would_appreciate_it_if_you
        can_you_just can_you_help_me could_you_help_me mind_if_you are_you_able_to can_you_maybe""",
    "it": "there_is there_are there_was there_were",
    "is": "it's_not",
    "prep": "like_this",
    "should": "can_we could_we may_i may_we can_i could_i shall_we",
    "want": "would_like",
    "without": "instead_of rather_than not_to",
    "neg": """
        do_not no_need_to no_need please_don't avoid_running avoid_changing stop_running
        no_changes no_edits no_change no_more no_edit hold_off refrain_from there's_no_need
        i_don't_want i_do_not_want we_don't_want you_don't_need_to no_reason_to not_yet
        leave_alone you_must_not we_must_not you_should_not we_should_not you_shouldn't
        we_shouldn't make_sure_you_don't make_sure_not_to be_careful_not_to let's_not lets_not
        you_may_not you_can't_just don't_you_dare i'd_rather_you_didn't i_would_rather_you_didn't
        i_didn't_ask_you i_never_asked_you nobody_asked_you i_didn't_say nobody_said i_never_said
        under_no_circumstances avoid_trying refuse_to leave_it leave_everything leave_my
        leave_the_code hands_off keep_your_hands keep_off read_only no_touching no_touch
        no_modifications no_code_changes no_code no_commits no_pushing no_running
        nothing_should_be touch_nothing stay_away keep_away steer_clear forget_about scrap_that
        cancel_that stand_down hold_on hold_it hold_your_horses wait_for_me wait_until wait_before
        keep_everything keep_the_code_as""",
    "cannot": """
        does_not did_not is_not are_not was_not will_not can_not could_not has_not have_not
        no_longer never_finishes fails_to failed_to nothing_happens do_nothing does_nothing
        dont_work don't_work do_not_work""",
    "why": """
        how_come whats_the_reason why_can't why_cant why_won't why_wont why_can_i_not
        why_doesn't_it_work why_isn't_it_working why_is_it_not_working why_doesn't_this_work
        how_come_i_can't why_does_it_keep why_do_i_get why_am_i_getting why_am_i_seeing
        why_do_i_see why_are_we_getting why_do_we_get why_is_it_so_slow""",
    "what": "which_is what_is",
    "where": """
        what_calls what_uses what_imports what_references what_depends_on who_imports which_module
        which_modules which_file which_files what_file what_files which_function which_functions
        which_class which_classes which_folder which_directory which_package which_component
        which_components which_endpoint which_endpoints which_test which_tests which_line
        which_lines which_place which_places how_many_files how_many_places how_many_times_is
        how_many_usages how_many_functions how_many_tests any_place every_file_that all_files_that
        all_the_files files_that_use anywhere_we used_anywhere still_used in_use anywhere_else
        entry_point_for in_what_file in_which_file in_which_module""",
    "whether": """
        is_it_safe is_it_ok is_it_okay is_it_possible is_it_a_good_idea would_it_be_a_good_idea
        does_it_make_sense what_happens_if what_happens_when what_would_happen would_it_be_better
        would_it_make_sense is_it_fine is_it_better is_it_necessary do_i_need do_we_need
        do_i_have_to do_we_have_to what_if am_i_supposed_to are_we_supposed_to wondering_if
        wonder_if is_that_safe is_that_ok is_that_okay is_that_right is_this_ok is_this_okay
        is_this_right will_that_break would_that_break is_that_a_good_idea is_this_a_good_idea
        good_idea bad_idea is_that_bad is_it_bad is_that_possible is_that_wise would_that_help
        would_it_help would_this_help will_that_work would_that_work will_it_work would_it_work
        does_that_work does_that_make_sense makes_sense any_downside any_downsides any_harm
        any_risk any_risks any_danger any_drawback worth_it is_it_worth would_you_recommend
        have_you_tried what_about is_it_a_bad_idea is_there_a_way is_there_any_way
        is_there_a_good_way not_sure_if not_sure_whether unsure_whether unsure_if can't_decide
        whether_or_not or_not safe_to risky_to dangerous_to ok_to okay_to wise_to thinking_of
        thinking_about in_theory""",
    "and": "also_please followed_by",
    "but": "just_only",
    "when": "as_soon_as so_that in_order_to even_though",
    "rel": "that_is that_are who_is which_are",
    "change": """
        clean_up speed_up rip_out factor_out take_out pull_out hook_up wire_up set_up switch_to
        turn_on turn_into sort_out help_me_fix document_the address_the stop_logging stop_using
        start_using use_the pull_the raise_the make_sure have_the return_a bundle_the wait_for
        hide_the display_a replace_the comment_out sync_the_two implement_a abort_if have_it
        reject_requests reject_empty phase_out stringify_the read_the store_the email_the
        tell_the_user require_a squash_the cancel_the_request render_x swap_out throw_in whip_up
        knock_up beef_up spruce_up tone_down thread_through bubble_up patch_up cook_up
        come_up_with put_together bolt_on bake_in hide_away tidy_up polish_up beautify_the
        trim_down cut_down scale_down scale_up slim_down strip_out pull_in bring_in move_out
        carve_out break_up break_out chop_up rename_the reset_the rework_the rewrite_the
        sanitise_the secure_the simplify_the sort_the suffix_the swap_the teach_it throttle_the
        tighten_up trim_the undo_the unify_the unroll_the wrap_the zero_out optimise_the gate_the
        guard_the harden_the make_the make_this make_that make_it make_all make_every
        make_sure_that fall_back assume_that pass_the pass_in pass_along reuse_the apply_the_fix
        lay_out bump_up bring_back bring_the carry_over cater_for extend_the fetch_the finish_the
        flesh_out follow_the inform_the inspect_the kick_out leave_out level_up line_up
        list_the_users look_better loosen_up make_up mention_in mirror_the number_the
        order_the_list parse_the persist_the place_the point_the prepend_a print_the
        publish_an_event push_down put_in query_the raise_an read_from reduce_the relax_the
        remember_the remind_the remind_users render_the resize_the restart_on retry_on roll_up
        rotate_the route_the save_the send_an send_the separate_the serve_the set_the shift_the
        ship_a sign_the silence_the specify_the split_the start_with stash_the stop_the stop_users
        store_in style_the suppress_the swallow_the switch_over tag_the time_out touch_up
        trace_the_requests track_the truncate_the type-check_the unescape_the use_a use_an
        verify_the_token vendor_the warn_the warm_up watch_for""",
    "run": """
        kick_off fire_up spin_up start_up run_through have_a_go_at bring_up give_the_tests
        give_it_a_spin give_it_a_run fire_off try_out stand_up do_a_build do_a_full_build
        do_a_clean_build do_a_test_run do_a_dry_run do_a_run dry_run make_a_build
        get_the_tests_going get_the_app_running get_the_server_up get_the_server_running
        bring_the_server_up put_the_tests_through seed_the apply_the_migrations apply_migrations
        run_through_the shut_down have_another_go_at give_the_suite reload_the_server boot_up
        start_it hit_run try_the_tests do_another_run format_the_code format_code
        reformat_the_code format_everything format_the_project format_the_repo format_all
        try_running""",
    "test": """
        pytest_suite type_check unit_tests integration_tests check_types e2e_tests
        regression_tests test_suite coverage_report type_checker playwright_tests dev_server
        smoke_test smoke_tests test_run full_build clean_build debug_build release_build
        lockfile_install formatting_check format_check""",
    "find": """
        look_for look_up hunt_down track_down dig_up search_for find_me list_all show_all dig_out
        fish_out point_me_to point_me_at take_me_to get_me_the_file looking_for i'm_looking_for
        i_am_looking_for trace_all spot_all scan_for scan_the_code_for search_through comb_through
        go_find pick_out round_up find_out_where find_out_which find_out_who open_the_file
        open_file show_the_file show_me_the_file pull_up_the_file bring_up_the_file""",
    "explain": """
        walk_me_through walk_us_through talk_me_through clarify_how give_me_an_overview
        give_an_overview help_me_understand teach_me tell_me_about tell_me_more break_down
        i_don't_understand i_don't_get i_do_not_understand don't_understand don't_get
        don't_really_get i_don't_really_get i'm_confused overview_of an_overview_of explain_to_me
        shed_light_on make_sense_of want_to_understand""",
    "ask": """
        know_why tell_me explain_why do_you_know i_want_to_know i'd_like_to_know want_to_know
        like_to_know let_me_know is_there_a_reason what's_the_point what_is_the_point
        what's_the_difference what_is_the_difference what_are_the_differences what's_the_purpose
        difference_between pros_and_cons meaning_of purpose_of what's_going_on_in remind_me
        i'm_trying_to_understand trying_to_understand thoughts_on what_do_you_think_about""",
    "review": """
        look_over give_feedback_on give_me_feedback_on feedback_on look_it_over look_this_over
        look_that_over look_them_over go_over point_out second_opinion_on sanity_check
        have_a_look_at_my second_pair_of_eyes_on peek_at glance_at eyes_on cast_an_eye_over
        take_another_look_at give_me_your_opinion_on opinion_on opinions_on read_through read_over
        smell_test inspect_my lgtm_check comment_on code_review second_look""",
    "debug": """
        look_into figure_out find_out dig_into find_the_cause find_the_root_cause find_the_reason
        track_down_why find_out_why get_to_the_bottom_of work_out find_out_what look_at_why
        see_why check_why find_what what's_up narrow_down hunt_for_the_bug sort_out_why chase_down
        get_to_the_root""",
    "push": """
        back_up push_it put_up get_up save_to push_the_fix ship_the_fix publish_my
        get_this_upstream get_it_upstream send_upstream ship_my push_up push_out force_nothing
        push_my push_all push_everything git_push deliver_my let_the_remote squash_and_push
        wrap_up_my hand_in put_it_on_github""",
    "commit": """
        check_in stash_and commit_the_fix make_a_commit create_a_commit stage_and_commit
        wip_commit snapshot_my save_my_progress put_this_in_git put_it_in_git check_this_in
        check_it_in check_everything_in git_commit do_a_commit commit_all commit_everything
        add_and_commit stage_everything record_my save_a_checkpoint checkpoint_my log_my_work
        tag_the_release open_a_pr open_a_pull_request create_a_pr create_a_pull_request make_a_pr
        make_a_branch create_a_branch stash_my""",
    "look": """
        take_a_look have_a_look look_at take_a_look_at have_a_look_at a_look any_idea any_ideas
        any_clue any_thoughts_on_why""",
    "show": "show_me display_the give_me list_the show_my list_my",
    "help": """
        docs_for_you what_can_you_do what_do_you_do who_are_you what_are_you what_can_i_ask
        what_can_i_do what_do_you_support what_can_you_help available_commands how_to_use_you""",
    "status": """
        what_happened_to go_through went_through update_on state_of status_of news_on in_the_queue
        the_queue""",
    "task": "refactor_i_asked approval_request",
    "done": "in_progress working_on",
    "diff": """
        what_did_i_change what_have_i_changed what_i_changed what_has_changed what_changed
        what's_changed last_commit latest_commit last_commits recent_commits my_commit this_commit
        the_commit my_patch this_patch my_change this_change my_fix my_refactoring my_code
        latest_changes recent_changes local_changes patch_set pull_request pull_requests
        merge_request working_copy working_tree my_work work_tree what_i_did what_i_wrote
        what_i_have_so_far what_i've_done what_i_just_did what_i_just_wrote what_i_just_changed
        the_code_i_wrote code_i_wrote code_i_just_wrote i_just_wrote i_wrote i_just_changed
        i_changed i_touched i_added i_modified i_edited my_implementation my_solution my_approach
        modified_files changed_files files_i_changed files_i_touched did_i_touch did_i_change
        did_i_modify have_i_touched have_i_changed what's_in_my working_directory my_stash
        last_3_commits last_two_commits last_few_commits recent_work my_last my_latest my_recent
        today's_changes yesterday's_changes local_edits feature_branch current_branch""",
    "fail": """
        timing_out stack_trace stack_traces race_condition something's_off not_working
        doesn't_work does_not_work stopped_working stops_working keep_getting out_of_memory
        too_big too_slow too_long goes_white goes_blank acting_up messed_up screwed_up
        permission_denied no_such_file connection_refused cut_off white_screen black_screen
        outdated_data off_by_one goes_down went_down down_again not_found never_ends
        duplicate_rows off_by out_of_sync doesn't_add_up don't_add_up upside_down never_arrives
        never_arrive never_loads never_returns double_charged out_of_date exit_code core_dump
        reset_by_peer connection_reset crashing_on obsolete_data swapped_out""",
    "weak": "again_and_again old_value nothing_in the_old",
    "thing": """
        suite_file button_handler table_row page_title dark_mode queue_worker message_queue
        staging_env node_version cache_layer label_text colour_scheme color_scheme theme_switcher
        search_box worker_pool group_policy webhook_url backup_job map_view exception_class
        base_class subclass_name hash_function header_row request_body status_code status_codes
        rate_limit rate_limiter retry_logic timeout_value variable_name log_level log_file
        log_files license_file linter_config migrations_folder fixtures_dir snapshot_tests
        mock_server stub_server cli_tool shell_script bash_script push_token cors_policy
        origin_header""",
    "occur": "usage_of reference_to everywhere_that all_places every_place every_usage every_use",
    "use": "depends_on",
    "remote": "server_repo the_repo the_repository main_branch the_server",
    "with": "with_message with_the_message with_a_message with_commit_message",
    "exists": """
        is_there_any are_there_any is_there_a is_there_an is_there anything_using
        anything_that_uses anything_that any_code_that any_code got_any do_we_have do_we_still
        does_anything does_anyone does_anybody does_any is_anyone is_anybody is_anything any_file
        any_files have_we_got do_we_already are_there is_there_some is_there_something is_x_used
        anything_calling anything_else""",
    "asksbot": "do_you are_you do_u are_u have_you did_you were_you",
    "desire": """
        we_need i_need we_want i_want i'd_like we'd_like there_should_be it_should would_be_nice
        it'd_be_nice would_be_great would_love needs_to_be need_to_be needs_to should_be
        should_have should_show should_return should_not shouldn't_be should_only should_also
        should_always should_never should_use should_say has_to_be must_be must_not must_have
        ought_to_be we_could_use we_should i_would_like i_would_love we'd_love could_use
        is_supposed_to_be is_missing_a are_missing_a i'd_prefer we'd_prefer i_prefer would_prefer
        would_be_cool would_be_better would_make_sense_to i_wish how_about what_about_adding
        should_look should_open should_close should_go should_work_like should_stay should_come
        should_default should_accept should_allow should_reject should_fail should_throw
        should_log should_support should_take should_appear should_start should_end should_stop
        should_redirect should_include should_exclude should_contain should_live should_match
        should_happen should_read should_run should_send should_save should_store should_display
        should_default_to must_support must_accept must_use must_return must_show must_only""",
    "approve": """
        accept_this sign_off prompt_me approval_step approval_prompt approval_process
        confirmation_step confirmation_prompt approval_dialog confirmation_dialog_for_me
        approval_popup accept_the accept_my accept_that allow_the seal_code approval_code
        confirmation_code the_seal seal_is code_is type_the_code enter_the_code click_approve
        click_yes click_ok click_accept press_approve press_yes press_enter hit_approve
        tap_approve thumbs_up green_light signed_off always_allow allow_all allow_everything
        allow_any remember_my_choice whitelist_me cleared_to my_consent my_word i'm_authorized
        i_am_authorized my_authority my_responsibility i_take_responsibility i'm_the_owner
        i_am_the_owner i'm_the_admin i_am_the_admin as_admin as_the_admin as_root i'm_the_boss
        i_own_this on_my_behalf my_blessing i_vouch my_name_on human_in_the_loop the_gate
        sign-in_check safety_check safety_checks""",
    "yes": """
        ship_it go_ahead go_for_it do_it just_do_it looks_good i_agree permission_granted go_on
        carry_on sounds_good sounds_great looks_fine merge_it yes_please do_so consider_it
        make_it_so push_it_through i_authorize i_allow i_hereby please_proceed accept_it allow_it
        let_it_run let_it_through let_it_go you_may you_may_proceed you_can_go you_can_run
        you_can_proceed you_can_go_ahead you_can_start i'm_fine_with i'm_ok_with i'm_okay_with
        i_am_fine_with works_for_me that_works all_good good_to_go good_from_my_side fine_by_me
        fine_with_me no_objections i'm_good of_course by_all_means make_it_happen execute_it
        fire_away let's_go lets_go yeah_do_it""",
    "noask": """
        stop_asking stop_asking_me without_asking without_asking_me don't_ask don't_ask_me
        dont_ask no_need_to_confirm no_need_to_ask no_need_to_approve no_confirmation
        stop_prompting never_ask no_approval_needed no_approval no_questions_asked don't_prompt
        don't_bother_asking automatically_approve no_need_for_approval no_need_for_confirmation
        stop_nagging stop_nagging_me just_apply stop_bothering stop_bugging without_confirmation
        without_my_approval without_approval without_any_approval no_more_confirmations
        no_more_approvals no_more_dialogs no_popups no_dialogs without_waiting_for_me
        without_confirming without_prompting without_my_confirmation don't_wait do_not_wait
        no_need_to_wait without_waiting dont_wait trust_me i_trust_you never_ask_me_again
        stop_the_prompts stop_the_dialogs no_prompts skip_the_prompt skip_the_popup
        skip_confirmation skip_confirmations skip_approvals skip_approval skip_the_approval
        skip_the_confirmation bypass_approval bypass_the_approval ignore_the_approval
        ignore_approvals override_the_approval force_approve auto_accept auto_approve yolo_mode
        silently_run bypass_the_dialog skip_the_dialog skip_the_dialogs without_the_dialog
        bypass_the_prompt bypass_the_confirmation bypass_confirmation bypass_approvals""",
    "greet": """
        hello_there good_night hi_there hey_there you_around are_you_there are_you_around
        anyone_there anybody_there nice_work good_job great_job well_done much_appreciated
        appreciate_it you_rock got_it good_bot cool_thanks ok_thanks never_mind no_worries
        testing_testing test_test how_are_you how_are_you_doing tell_me_a_joke i_love_you
        what_time_is_it what's_the_weather wrong_chat wrong_window good_one wake_up
        have_a_nice_day see_you see_ya happy_friday long_time_no_see nice_to_meet_you
        pleased_to_meet_you accept_cookies""",
    "undo": "roll_back",
    "standing": """
        where_are_we where_are_we_with where_do_we_stand what_happened_to_my
        what_happened_to_the_task how's_it_going hows_it_going how_is_it_going how's_that_going
        how_far_along how_far how_far_are_you any_update any_updates any_update_on any_news
        any_news_on any_progress any_progress_on what_are_you_working_on what_are_you_doing
        what_are_you_up_to how's_my how_is_my how_are_my what_is_running what's_running
        what's_pending what's_waiting how_long_until progress_report status_report status_update
        are_you_done are_you_still are_you_finished have_you_finished is_it_done is_it_ready
        is_it_finished how_much_longer did_it_work is_it_working_yet are_we_there_yet what's_left
        what_is_left still_waiting when_will_it_be_done when_will_it when_will_that any_results
        anything_new what_did_you_do what_have_you_done did_you_get_my did_you_see_my
        did_you_receive last_task last_result latest_result what_came_out_of how_did_it_go
        how_did_that_go how's_everything what's_happening_with what's_the_latest what's_the_holdup
        still_running still_going all_done done_yet ready_yet finished_yet what's_next
        is_anything_running anything_running anything_pending anything_waiting what_happened_with
        does_anything_need is_the_agent is_my_machine is_my_laptop is_the_bot is_my_computer
        which_machine my_queue you_finished how_many_tasks what_tasks which_tasks my_tasks
        my_requests open_requests pending_requests pending_approvals waiting_for_approval
        waiting_for_my_approval waiting_on_me waiting_for_me need_my_approval needs_my_approval
        did_you_start have_you_started is_there_anything_i_need what's_the_hold_up
        how's_my_request did_that_finish did_this_finish still_on_it you_done
        where_did_we_leave_off current_tasks recent_tasks running_tasks open_tasks show_running
        task_history my_history needs_my_attention need_my_attention what_did_i_ask when_did_you
        what_became_of how_goes how_goes_it how's_that_coming how_is_that_coming coming_along
        any_luck any_luck_with what's_taking what_is_taking been_approved is_that_done
        is_this_done did_it_finish did_it_go did_it_run did_it_pass did_it_succeed did_that_work
        did_you_push did_you_fix did_you_run did_you_finish did_you_do have_you_pushed
        have_you_fixed have_you_run have_you_done are_you_working are_you_running are_you_on
        are_you_busy are_you_free are_you_online are_you_ready are_you_up what's_your_status
        where_does_my where_is_my_task where's_my_task where's_my_request on_track what_stage
        when_do_you_expect catch_me_up fill_me_in report_back bring_me_up_to_speed on_my_plate
        today's_tasks last_heartbeat how_much_time_is_left how_much_is_left what_did_you_end_up
        is_it_my_turn what's_it_waiting what_is_it_waiting give_me_an_update give_me_a_status
        update_me keep_me_posted where_is_it_at where's_it_at what's_the_progress eta_on eta_for
        any_eta quick_update status_of_my state_of_my""",
    "wrong": """
        what's_wrong whats_wrong what_is_wrong what's_up_with what_went_wrong what_goes_wrong
        what's_going_on what's_happening what's_broken what's_failing what_happened_here
        what's_causing what_is_causing the_cause_of root_cause whats_going_on what_broke
        what_causes what_caused what_could_be_wrong what_might_be_wrong what_is_breaking
        what's_breaking what_is_failing what_makes_it what's_making what_is_making what's_eating
        what_is_eating what's_blocking what_is_blocking""",
    "edit": "translate_x show_a",
    "botask": """
        can_you_write_code can_you_see can_you_access can_you_read can_you_hear can_you_understand
        can_you_speak can_you_remember can_you_learn can_you_access_my do_you_support do_you_speak
        do_you_have_access do_you_store do_you_remember do_you_work do_you_run are_you_a
        are_you_an are_you_able are_you_using are_you_gpt who_made_you who_built_you what_model
        what_models which_model is_this_a_bot is_this_bot how_do_you_work how_can_you
        what_else_can_you what_all_can_you what_are_you_able what_are_you_capable what_can_i_type
        what_should_i_type what_to_type what_can_i_say is_there_a_manual is_there_documentation
        is_there_a_guide is_there_a_list_of_commands what_kind_of_things list_of_commands
        your_commands list_your user_guide cheat_sheet how_to_start how_do_i_start
        how_do_i_get_started getting_started get_started what_can_i_ask_for what_things_can
        introduce_yourself about_you your_capabilities what_is_codexbridge what_do_you_need
        what_can_this this_bot the_bot which_version_are_you what_version_are_you about_this_bot
        are_you_chatgpt are_you_human who_wrote_you who_can_use_you can_i_use_you use_you i'm_lost
        i_am_lost i_need_a_hand i'm_stuck_what assist_me show_usage usage_please
        teach_me_the_commands how_much_do_you_cost are_you_free_to_use is_this_free do_you_have_a
        your_name your_purpose your_job your_limits your_limitations limitations_of_this
        what_can't_you what_cannot_you what_you_can how_you_work use_this_bot use_the_bot
        use_this_thing will_you_change will_you_ask will_you_run do_you_ask would_you_ask
        can_you_do_anything can_you_help can_you_help_me_with what_you_do new_here just_joined
        first_time_here first_time_using""",
    "gist": "tldr_of crash_course",
    "off": "turn_off stop_showing get_rid_of switch_off",
    "cause": "reason_for source_of root_of origin_of reason_why",
    "quality": """
        any_concerns anything_missing_in any_mistakes look_right look_ok look_okay look_good
        looks_ok looks_right look_sane look_correct correct_so_far""",
    "pull": """
        pull_the_latest pull_latest fetch_the_latest get_the_latest get_latest merge_main
        merge_master update_from_remote update_from_main update_my_branch sync_my_fork pull_from
        pull_down git_pull git_fetch bring_my_branch_up_to_date merge_into merge_to_main
        merge_upstream""",
    "failed": """
        errors_out blew_up blows_up times_out timed_out takes_forever takes_ages takes_too_long""",
    "make": "do_a do_another do_the have_a take_a",
    "verdict": """
        ready_to_merge good_to_merge safe_to_merge ok_to_merge okay_to_merge good_enough_to_merge
        anything_suspicious any_red_flags any_smells any_code_smells did_i_break did_i_miss
        did_i_forget have_i_missed have_i_forgotten have_i_broken anything_i_missed
        anything_i_forgot anything_wrong_with anything_off_with any_problems_with any_issues_with
        any_issues_in any_bugs_in any_problems_in any_mistakes_in""",
    "count": "how_many",
    "askdone": """
        did_it did_that did_my did_the_last has_it has_that has_my have_they did_everything
        has_everything is_everything has_anything did_anything was_it was_that was_my were_my
        has_the_task did_the_task did_the_agent has_the_agent has_codexbridge""",
    "faring": "getting_on",
    "domain": """
        pair_my pair_a seal_codes my_phone my_data audit_log codexbridge_agent default_workspace""",
}

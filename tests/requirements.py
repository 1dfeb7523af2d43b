"""What the product must do, by identifier, and whether it does it yet.

Sources: the promises P1-P8 (README, docs/threat_model.md); the rules R1-R74 of the security design
(docs/threat_model.md); NL-*: the specification of the natural-language task engine, by section;
EX-*: the task executor story, by acceptance criterion; PL-*: the plan and evidence schemas;
DL-*: the review loop for deliverables; MJ-*: the main job, end to end.

A test names what it shows with ``@pytest.mark.requirement("P2")``.  `test_requirements.py` checks
both directions: a built one without a test fails, and so does a test for one that is not built.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One numbered must."""

    text: str
    built: bool


def built(text: str) -> Requirement:
    """Done, and shown by a test."""
    return Requirement(text, built=True)


def later(text: str) -> Requirement:
    """Promised, not done; printed by every test run."""
    return Requirement(text, built=False)


REQUIREMENTS: dict[str, Requirement] = {
    # Promises
    "P1": built("Nothing destructive happens without a confirmation on the machine."),
    "P2": built("What was approved is exactly what runs."),
    "P3": built("Nothing accepted is lost; nothing destructive runs twice."),
    "P4": built("The gateway cannot act."),
    "P5": built("What was executed can be undone."),
    "P5a": built("A command is marked “cannot be undone” before it is approved."),
    "P6": built("Receipts verify offline; both halves countersign each other's heads."),
    "P6a": built("Both halves keep a hash-chained audit log; one changed byte is found."),
    "P7": built("The chat tells the truth: machine, state, who must act, time left, outcome."),
    "P8": built("Secure by default: refuses to start open."),
    # Rules of the security design
    "R1": built("One function mints execution; only one module starts children."),
    "R2": built("The link's schema is closed; no frame can approve."),
    "R3": built("Policy, gateway and workspaces are read only from the user's config directory."),
    "R4": built("Every failure on the way to execution ends in not executed."),
    "R5": built("There is no “always allow”."),
    "R6": built("Over a limit means refused, never a milder check."),
    "R7": built("Nothing is silently rewritten."),
    "R8": later("Edge and authority of the agent are two processes."),
    "R9": built("Pairing code: 128 bits, made by the admin, 10 minutes, once, 10 tries."),
    "R10": built("Pairing authenticates both keys and the URL; six check words."),
    "R11": built("Rights come from the device record, never from the hello."),
    "R12": built("Transcript-bound mutual challenge under separate labels."),
    "R13": built("Pre-authentication bounds; identical refusals; no Origin."),
    "R14": built("Revocation ends an open session within 5 s."),
    "R15": built("wss only, or ws to a loopback literal; no redirects."),
    "R16": built("Envelopes are signed over the received bytes."),
    "R17": built("Sequence and ids are stored before acting; a gap is an alarm."),
    "R18": built("A result counts only from the machine that got the task."),
    "R19": built("One strict reader for all JSON from outside."),
    "R20": built("Secrets are compared in constant time, as bytes."),
    "R21": built("The approval's subject is one stored byte string."),
    "R22": built("Approval states; consumption once; approved but not begun expires."),
    "R23": built("A decision names the digest that was shown."),
    "R24": built("Execution recomputes from reality and refuses on any difference."),
    "R24b": built("A command's base: the workspace's own files are sealed and checked again."),
    "R25": built("The approver shows exactly what will run."),
    "R26": built("Hidden characters are visible everywhere."),
    "R27": built("Native dialogs get text through stdin and answer with digest and nonce."),
    "R28": built("Dialog arming, focus and fatigue limits."),
    "R29": built("High risk needs a second act."),
    "R30": built("The terminal approver asks on a TTY only."),
    "R31": built("Optional presence by passkey."),
    "R32": built("Accepted subset of diffs."),
    "R33": built("Diffs are parsed as bytes."),
    "R34": built("Names in diffs are checked."),
    "R35": built("Writes go by directory handles."),
    "R36": built("All or nothing by a journal."),
    "R37": built("git apply agrees, in tests."),
    "R38": built("Execution surfaces are flagged."),
    "R39": built("Every git call is hardened."),
    "R40": built("Programs are never looked up through the workspace."),
    "R41": built("The repository's top level is the workspace."),
    "R42": built("argv without a shell wherever the text allows; a shell is said to be one."),
    "R43": built("The environment is built from an allow-list."),
    "R44": built("No terminal, own process group, no survivors."),
    "R45": built("Time, output and memory limits."),
    "R46": built("What the run changed is listed afterwards."),
    "R47": built("The bubblewrap profile hides home, /run and host sockets."),
    "R48": later("Landlock without user namespaces: it does not hold its tests (ADR 13)."),
    "R49": later("macOS sandbox."),
    "R50": built("A self-test at start records the sandbox level."),
    "R51": built("No network unless the sealed approval says so."),
    "R52": built("Path guard for every read."),
    "R53": built("Disclosure levels, daily budgets, notice and audit entry of every remote read."),
    "R54": built("One redaction module, measured by a set of secrets and look-alikes."),
    "R55": built("Redaction is damage control: path guard and disclosure level come first."),
    "R56": built("The loopback page's checks."),
    "R57": built("Rendering by textContent."),
    "R58": built("Hash chain of the audit log; its heads signed, sent, countersigned, checked."),
    "R59": built("The intent is durable before the effect."),
    "R60": built("Keyring only from an allow-list; else a 0600 file with a warning."),
    "R61": built("Hardening at start; no fixed temporary files."),
    "R62": built("The model process is boxed in."),
    "R63": built("Stage B picks a kind and nothing else."),
    "R64": built("A playbook gate is an approval."),
    "R65": built("Conditions and args_from without eval."),
    "R66": built("Names and hooks of playbooks."),
    "R67": built("Rollback paths."),
    "R68": built("After a restart nothing executes without an approval that is still valid."),
    "R69": later("Delivery pushes are approvals."),
    "R70": later("Adapters: secrets by alias."),
    "R71": built("Order of checks at the callback."),
    "R72": built("Tokens never in logs or exceptions; no redirects."),
    "R73": built("Outgoing text is bounded on a character border and redacted again."),
    "R74": built("Hash-pinned lock file."),
    # The natural-language task engine, by section of its specification
    "NL-3.1": built("UserRequest with the specified fields, made of each request on the machine."),
    "NL-3.1b": later("A request's source and meta on the link: version 1 has closed records."),
    "NL-3.2": built("TaskIntent with the specified kinds and fields."),
    "NL-3.3": built("Proposal, ExecutionRequirement and TaskResult with the specified fields."),
    "NL-4.1a": built("Stage A: the DSL first, then keywords in English and Chinese."),
    "NL-4.1b": built("Stage B: optional classification by a model."),
    "NL-4.1c": built("Below the threshold: a safe, plan-only answer."),
    "NL-4.2": built("Router output is validated."),
    "NL-5.1": built("The context collector with its limits."),
    "NL-6": built("The state machine; each transition emits an event."),
    "NL-7": built("The five task events."),
    "NL-8.1": built("Apply-diff gating."),
    "NL-8.2": built("Run-command gating: always a local approval."),
    "NL-8.3": built("The waiting reply names the machine."),
    "NL-9": built("The DSL: status, help, plan, patch, apply, test --cmd."),
    "NL-10": built("Chat output: task ID, summary, next step; no huge diffs."),
    "NL-12.1": built("Free-form chat in the local page."),
    "NL-12.2": built("Free-form text from WeCom is routed."),
    "NL-12.3": built("Change and diagnose return a diff."),
    "NL-12.4": built("Nothing runs without local confirmation."),
    "NL-12.6": built("On failure the person sees a meaningful error."),
    "NL-13": built("The settings of the specification."),
    # The main job, end to end
    "MJ-1": built(
        "`make demo` reaches “waiting for you”; a person approves by typing; the chat hears."
    ),
    "MJ-2": built("Independent callback → approval in a pty → command → summary at the simulator."),
    "MJ-3": built("All known-answer and derived vectors pass."),
    "MJ-4": built(
        "kill -9 of agent or gateway: same approval, run once; task still arrives, once."
    ),
    "MJ-5": built("The same MsgId delivered four times makes one task."),
    "MJ-6": built("Failures of the original system, each a named regression test."),
    "MJ-8": built("Wrong surroundings give one clear line each, exit code 2 where it must stop."),
    # The task executor story, by acceptance criterion; it has two of number 6
    "EX-1": built("TaskDefinition with the specified fields."),
    "EX-2": built("StepDefinition with the specified fields."),
    "EX-3": built("TaskRunState with the specified fields and statuses."),
    "EX-4": built("The result of a step with the specified fields."),
    "EX-5": built("ChangeEntry with the specified fields."),
    "EX-6a": built("TaskParseError with the file and the message."),
    "EX-6b": built("TaskExecutor is made with the model that it asks."),
    "EX-7": built("`execute` is an async generator of events."),
    "EX-8": built("Steps run one after the other, in their order."),
    "EX-9": built("A tool step calls its tool, by the same way as everything else."),
    "EX-10": built("An agent step asks the model, streaming."),
    "EX-11": built("A gate waits for a person; setting its event approves nothing by itself."),
    "EX-12": built("A step whose condition does not hold is skipped."),
    "EX-13": built("Arguments come from the results of earlier steps."),
    "EX-14": built("Pre hooks run before the steps."),
    "EX-15": built("Post hooks run after the steps."),
    "EX-16": built("A pre hook that fails ends the run."),
    "EX-17": built("A post hook that fails is a warning."),
    "EX-18": built("The state file lies below its client."),
    "EX-19": built("The state file is written after each step."),
    "EX-20": built("On failure the state points to the failed step."),
    "EX-21": built("A run is taken back in reverse order."),
    "EX-22": built("`task_start` with its fields."),
    "EX-23": built("`step_start` with its fields."),
    "EX-24": built("`function_result` with its fields."),
    "EX-25": built("`stream` passes the model's words on."),
    "EX-26": built("`confirmation_required` with its fields."),
    "EX-27": built("`step_complete` with its fields."),
    "EX-28": built("`task_complete` with its fields, last."),
    "EX-29": built("There is one authority for safety: each change of a run is an approval."),
    "EX-30": built("What a tool step replaces is backed up before it acts."),
    "EX-31": built("A changing step that no gate covers asks by itself."),
    "EX-32": built("A rollback goes through undo."),
    "EX-33": built("The border between executor and safety is documented, and kept."),
    "EX-34": built("A tool step that fails ends the run, with its state saved."),
    "EX-35": built("An agent step that fails is asked once more, shorter; then the run ends."),
    "EX-36": built("A gate that nobody answers ends the run, with its state saved."),
    # Later parts, by source document
    "PL": later("Plans, steps, parked items and evidence."),
    "DL": later("The review loop for deliverables."),
}


def planned() -> dict[str, Requirement]:
    """Return what is promised and not built."""
    return {name: item for name, item in REQUIREMENTS.items() if not item.built}

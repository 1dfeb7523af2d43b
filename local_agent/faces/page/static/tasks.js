// @ts-check
/** Tasks: the list, one task with all that belongs to it, and where requests are written. */
import {
  ActButton, Shown, VirtualList, api, bare, bytes, download, duration, exactMoment, html, lang, moment, say,
  t, timeLeft, useEffect, useLayoutEffect, useMemo, useNow, useRef, useState, useStore, whyOf,
} from "/kit/kit.js";
import { announce, go, store, useMessages } from "/app.js";
import { Diff, End } from "/diff.js";
import { Passkey } from "/passkeys.js";
import { Markdown } from "/markdown.js";

/** @typedef {import("/views.js").PageRow} Row */
/** @typedef {import("/views.js").PageTask} Told */

const PAGE = 60;
const ROW_HEIGHT = 74;
const STATES = [
  "RECEIVED", "ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY", "WAITING_APPROVAL",
  "EXECUTING",
];
const ENDS = new Set(["COMPLETED", "FAILED", "REJECTED"]);
const HIT = /^([^\s:][^:]{0,1023}):(\d{1,9}): (.*)$/;

/** @param {Row} row */
function standing(row) {
  if (row.rests) return row.version ? t("version", { version: row.version }) : t("resting");
  if (row.replaced_by) return t("replaced-by", { task: row.replaced_by });
  return row.reason ? t(`reason-${row.reason}`) : t(`state-${row.state}`);
}

/** @param {Row} row */
function toneOf(row) {
  if (row.rests || row.state === "WAITING_APPROVAL") return "warn";
  if (row.reason === "completed") return row.summary?.startsWith("⚠") ? "warn" : "good";
  if (["failed", "drifted", "unknown"].includes(row.reason ?? "")) return "bad";
  return row.reason ? "" : "work";
}

/** @param {Row} row */
function wanted(row) {
  const part = row.part;
  if (!part) return row.text;
  return part.step && part.total
    ? t("part-of", { step: part.step, total: part.total, playbook: part.playbook, name: part.name })
    : t("part-of-run", { playbook: part.playbook });
}

/** @param {{ row: Pick<Row, "source" | "claimed_user" | "channel"> }} props */
function Sender({ row }) {
  if (row.source === "local_ui") return html`<span>${t("you")}</span>`;
  return html`<span title=${t("claimed")}><${Shown} text=${row.claimed_user} />
    ${" "}<span class="pill warn">${t("from-wecom")}</span></span>`;
}

/** @param {{ row: Row, run?: import("/views.js").RunView | null }} props */
function Standing({ row, run }) {
  // In the list a run is known by the steps of it that wait.
  const asked = useStore(store, (state) => state.status?.approvals);
  const waits = run ? run.steps.some((step) => step.status === "waiting")
    : row.run && !row.reason && asked?.some((one) => one.part?.run === row.short_id);
  if (waits) return html`<span class="pill warn">${t("run-waiting")}</span>`;
  return html`<span class=${`pill ${toneOf(row)}`}>${standing(row)}</span>`;
}

// -- the list -------------------------------------------------------------------------------------

/** The rows of the list as the agent has them, newest first. @param {string} find @param {boolean} open */
function useRows(find, open) {
  const [state, set] = useState({ rows: /** @type {Row[]} */ ([]), more: true, known: false, why: "" });
  const asking = useRef(0);
  const load = async (/** @type {string} */ before) => {
    const asked = ++asking.current;
    const query = new URLSearchParams({ limit: String(PAGE), find, ...(before && { before }),
      ...(open && { open: "1" }) });
    try {
      const told = await api.get(`/api/tasks?${query}`);
      if (asked !== asking.current) return;
      set((/** @type {any} */ old) => ({
        rows: before ? [...old.rows, ...told.tasks] : told.tasks, more: told.more, known: true, why: "",
      }));
    } catch (error) {
      if (asked === asking.current) {
        set((/** @type {any} */ old) => ({ ...old, known: true, more: false, why: whyOf(error) }));
      }
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => load(""), find ? 200 : 0);
    return () => clearTimeout(timer);
  }, [find, open]);
  useMessages((message) => {
    if (message.type === "anew" || (message.type === "hello" && message.anew && state.known)) load("");
    const told = message.type === "task" ? [message.row]
      : message.type === "hello" ? message.rows : [];
    const rows = told.filter((/** @type {Row} */ row) => !row.is_step);
    if (rows.length) set((/** @type {any} */ old) => ({ ...old, rows: merged(old.rows, rows, find, open) }));
  }, [find, open, state.known]);
  const last = state.rows[state.rows.length - 1];
  return { ...state, next: () => { if (state.more && last) load(last.task_id); } };
}

/** @param {Row[]} rows @param {Row[]} told @param {string} find @param {boolean} open */
function merged(rows, told, find, open) {
  const out = [...rows];
  for (const row of told) {
    const at = out.findIndex((one) => one.task_id === row.task_id);
    if (at >= 0) {
      if (open && row.reason) out.splice(at, 1);
      else out[at] = row;
    } else if (!find && !(open && row.reason) && (!out[0] || row.created_at >= out[0].created_at)) {
      out.unshift(row);
    }
  }
  return out;
}

/** @param {{ chosen: string }} props */
function TaskList({ chosen }) {
  const [find, setFind] = useState("");
  const [open, setOpen] = useState(false);
  const { rows, known, why, next } = useRows(find, open);
  const now = useNow();
  const at = rows.findIndex((row) => row.short_id === chosen);
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = step && rows[Math.max(at, step > 0 ? -1 : 1) + step];
    if (!row) return;
    event.preventDefault();
    go(`/tasks/${row.short_id}`);
  };
  return html`<aside class="list card" aria-label=${t("tasks")}>
    ${!chosen && html`<h1 class="sr">${t("tasks")}</h1>`}
    <div class="list-head">
      <input type="search" aria-label=${t("find")} placeholder=${t("find")} value=${find}
        onInput=${(/** @type {any} */ event) => setFind(event.target.value)} />
      <label><input type="checkbox" checked=${open}
        onChange=${() => setOpen(!open)} /> ${t("open-only")}</label>
    </div>
    ${why && html`<p role="alert" class="danger">${why}</p>`}
    ${known && !rows.length && !why && html`<div class="empty"><p><strong>${
      t(find || open ? "nothing-found" : "no-tasks")}</strong></p>
      ${!find && !open && html`<p>${t("no-tasks-how")}</p>`}</div>`}
    <div class="list-rows" onKeyDown=${keys}>
      <${VirtualList} count=${rows.length} height=${ROW_HEIGHT} label=${t("tasks")} onEnd=${next}
        shown=${at} keyOf=${(/** @type {number} */ n) => rows[n].task_id}
        row=${(/** @type {number} */ n) => html`<${ListedRow} row=${rows[n]}
          chosen=${n === at} stop=${n === Math.max(at, 0)} now=${now} />`} />
    </div>
  </aside>`;
}

/** One stop of the Tab key for the whole list: arrows go on from there. */
/** @param {{ row: Row, chosen: boolean, stop: boolean, now: number }} props */
function ListedRow({ row, chosen, stop, now }) {
  return html`<a class="listed" href=${`#/tasks/${row.short_id}`} tabindex=${stop ? 0 : -1}
    aria-current=${chosen || undefined}>
    <span class="listed-top"><span class="mono">${row.short_id}</span>
      <${Standing} row=${row} />
      <time class="quiet" title=${exactMoment(row.created_at)}>${moment(row.created_at)}</time></span>
    <span class="listed-text"><${Shown} text=${wanted(row)} /></span>
    <span class="listed-from quiet"><${Sender} row=${row} />
      ${row.expires_at && html` · ${timeLeft(row.expires_at, now)}`}</span>
  </a>`;
}

// -- the section ----------------------------------------------------------------------------------

/** @param {{ route: any }} props */
export function Tasks({ route }) {
  const [id = ""] = route.rest;
  const [revising, setRevising] = useState("");
  const [example, setExample] = useState(/** @type {{ text: string } | null} */ (null));
  useEffect(() => setRevising(""), [id]);
  return html`<div class=${id ? "tasks has-task" : "tasks"}>
    <${TaskList} chosen=${id} />
    <main id="content" class="detail" tabindex="-1">
      <div class="scroll">
        ${id ? html`<${TaskPage} key=${id} id=${id} revise=${setRevising} />`
          : html`<${Welcome} take=${(/** @type {string} */ text) => setExample({ text })} />`}
      </div>
      <${Composer} revising=${revising} stop=${() => setRevising("")} example=${example} />
    </main>
  </div>`;
}

/** What can be asked for, where no task is chosen. @param {{ take: (text: string) => void }} props */
function Welcome({ take }) {
  const { prefix } = useStore(store, (state) => state.boot);
  const examples = [
    [t("example-question"), t("try-question")],
    [t("example-change"), t("try-change")],
    [t("example-run"), t("try-run", { prefix })],
  ];
  const keys = [
    [t("key-enter"), t("key-sends")],
    [t("key-shift-enter"), t("key-new-line")],
    ["↑", t("key-earlier")],
    ["↑ ↓", t("key-list")],
  ];
  return html`<div class="welcome">
    <p class="quiet">${t("choose-task")}</p>
    <section aria-label=${t("examples")}><h2>${t("examples")}</h2><ul>${examples.map(([what, text]) => html`<li>
      <span>${what}</span> <button type="button" onClick=${() => take(text)}>${text}</button></li>`)}</ul></section>
    <section aria-label=${t("keys")}><h2>${t("keys")}</h2><dl>${keys.map(([key, does]) => html`
      <dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl></section>
  </div>`;
}

/** @param {string} so @param {{ at: number, text: string }} told */
const joined = (so, told) => (told.at > so.length ? so : so.slice(0, told.at) + told.text);

/** A task as the agent has it, read anew whenever it tells of a change. @param {string} id */
function useTask(id) {
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const [why, setWhy] = useState("");
  const [stream, setStream] = useState("");
  const about = useRef({ taskId: "", run: /** @type {string | null} */ (null) });
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const asked = useRef(0), answered = useRef(0);
  /** Words that came while those before them were not here yet. */
  const early = useRef(/** @type {{ at: number, text: string }[]} */ ([]));
  const load = async () => {
    const mine = ++asked.current;
    try {
      const next = await api.get(`/api/tasks/${encodeURIComponent(id)}`);
      if (mine < answered.current) return; // an older answer that came later
      answered.current = mine;
      about.current = { taskId: next.task.task_id, run: next.row.is_step ? null : next.row.run };
      setTold((/** @type {Told | null} */ before) => {
        if (before && before.task.state !== next.task.state) {
          announce(`${next.task.short_id}: ${standing(next.row)}`);
        }
        return next;
      });
      const ahead = early.current.splice(0);
      setStream((/** @type {string} */ so) => (next.streaming ? ahead.reduce(
        joined, next.streaming.startsWith(so) ? next.streaming : so) : ""));
      setWhy("");
    } catch (error) {
      early.current = [];
      setWhy(whyOf(error));
    }
  };
  // Not put off by what comes meanwhile: a model at work never pauses for as long.
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      load();
    }, 80);
  };
  useEffect(() => {
    load();
    return () => clearTimeout(timer.current);
  }, [id]);
  useMessages((message) => {
    const { taskId, run } = about.current;
    if (message.type === "stream" && message.task_id === taskId) {
      setStream((/** @type {string} */ so) => {
        if (message.at > so.length) {
          early.current.push(message);
          soon();
        }
        return joined(so, message);
      });
    }
    const rows = message.type === "task" ? [message.row] : message.rows ?? [];
    // Until the first answer it is not known which steps are its own.
    const mine = rows.some((/** @type {Row} */ row) =>
      !taskId || row.task_id === taskId || (run && row.run === run));
    if (mine || message.type === "anew" || (message.type === "hello" && message.anew)) soon();
  }, [id]);
  return { told, why, stream, load };
}

/** @param {{ id: string, revise: (task: string) => void }} props */
function TaskPage({ id, revise }) {
  const { told, why, stream } = useTask(id);
  const chosen = useChosen(told);
  const seen = useSeen(told);
  if (!told) {
    return html`<div class="empty"><h1>${id}</h1><p role=${why ? "alert" : undefined}>${why || t("loading")}</p></div>`;
  }
  return html`<article class="task">
    <a class="to-list button" href="#/tasks">‹ ${t("back")}</a>
    ${why && html`<p class="notice" role="alert">${why}</p>`}
    <${RequestBubble} told=${told} />
    <section class="card body" aria-label=${told.task.short_id}>
      <header class="task-head">
        <h1 class="mono">${told.task.short_id}</h1>
        ${told.kind && html`<span class="chip">${t(`kind-${told.kind}`)}</span>`}
        ${told.task.version && html`<span class="chip">${t("version", { version: told.task.version })}</span>`}
        ${told.task.workspace && html`<span class="chip">${told.task.workspace}</span>`}
        <${Standing} row=${told.row} run=${told.task.playbook_run} />
      </header>
      <${Progress} told=${told} />
      <${Messages} told=${told} />
      ${told.task.playbook_run && html`<${RunSteps} run=${told.task.playbook_run} steps=${told.steps} />`}
      <${Answer} told=${told} stream=${stream} />
      ${told.question && isOpen(told) ? html`<${QuestionPart} told=${told} chosen=${chosen} saw=${seen.saw} />`
        : html`<${Decided} told=${told} />
          ${told.files.length > 0 && html`<${Diff} task=${told.task.short_id} files=${told.files}
            version=${told.approval?.approval_id ?? "proposed"} />`}`}
      <${Outcome} told=${told} />
      <${Actions} told=${told} revise=${revise} chosen=${chosen} seen=${seen.all} />
      <${Small} told=${told} />
    </section>
  </article>`;
}

/**
 * What is chosen of the files that are asked about: all, until the person unticks something.
 * @param {Told | null} told @returns {Chosen}
 * @typedef {{ choice: import("/diff.js").Choice, choose: (choice: import("/diff.js").Choice) => void, whole: boolean, sent: object }} Chosen
 */
function useChosen(told) {
  const files = told?.files ?? [], id = told?.approval?.approval_id ?? "";
  const all = useMemo(
    () => bare(Object.fromEntries(files.map((file) => [file.path, /** @type {true} */ (true)]))),
    [id, files.length]);
  const [state, set] = useState({ id, choice: /** @type {import("/diff.js").Choice} */ (all) });
  const choice = state.id === id ? state.choice : all; // of an older question nothing is kept
  return {
    choice,
    choose: (/** @type {import("/diff.js").Choice} */ next) => set({ id, choice: next }),
    whole: files.every((file) => choice[file.path] === true),
    sent: {
      approval_id: id,
      code: told?.approval?.code,
      keep: Object.keys(choice),
      hunks: Object.fromEntries(Object.entries(choice).filter(([, kept]) => kept !== true)),
    },
  };
}

/** What was on the screen to its end: the facts (-1) and each file. @param {Told | null} told */
function useSeen(told) {
  const id = told?.approval?.approval_id ?? "", count = told?.files.length ?? 0;
  const [state, set] = useState({ id, seen: new Set([NaN]) });
  const seen = state.id === id ? state.seen : new Set();
  const saw = (/** @type {number[]} */ ends) => set((/** @type {typeof state} */ old) => ({
    id, seen: new Set([...(old.id === id ? old.seen : []), ...ends]) }));
  // The files of several steps are not all of them: commands stand between, among the facts.
  const besides = count && told?.question?.action !== "steps" ? [] : [-1];
  return { saw, all: [...besides, ...Array(count).keys()].every((one) => seen.has(one)) };
}

/** @param {Told} told */
const isOpen = (told) => told.approval?.state === "pending";

/** @param {{ told: Told }} props */
function RequestBubble({ told }) {
  const { task } = told;
  return html`<section class="card request" aria-label=${t("request")}>
    <p class="quiet"><${Sender} row=${task} /> · <time title=${exactMoment(task.created_at)}>
      ${moment(task.created_at)}</time>
      ${task.retry_of_short_id && html` · <a href=${`#/tasks/${task.retry_of_short_id}`}>
        ${task.retry_of_short_id}</a>`}
      ${task.part && html` · <a href=${`#/tasks/${task.part.run}`}>${wanted(told.row)}</a>`}</p>
    <p class="request-text quoted"><${Shown} text=${task.text} /></p>
  </section>`;
}

// -- progress -------------------------------------------------------------------------------------

/** @param {{ told: Told }} props */
function Progress({ told }) {
  const { task, timeline } = told;
  const now = useNow();
  /** @type {Map<string, number>} */
  const reached = new Map([["RECEIVED", task.created_at]]);
  for (const { at, state } of timeline) {
    if (state && !reached.has(state)) reached.set(state, at);
  }
  const end = ENDS.has(task.state) ? task.state : "COMPLETED";
  const line = [...STATES.filter((state) => !ENDS.has(task.state) || reached.has(state)), end];
  return html`<ol class="progress" aria-label=${t("progress")}>${line.map((state, n) => {
    const at = reached.get(state), is = task.state === state;
    const kind = is && !ENDS.has(state) ? "present" : at === undefined ? "ahead" : "reached";
    const next = line.slice(n + 1).map((later) => reached.get(later)).find((one) => one !== undefined);
    const time = at === undefined ? "" : kind === "present" ? duration(now - at)
      : next !== undefined ? duration(next - at) : "";
    const tone = ENDS.has(state) && is ? toneOf(told.row) || "over" : "";
    return html`<li key=${state} class=${`${kind} ${tone}`} aria-current=${is ? "step" : undefined}
        title=${at ? exactMoment(at) : undefined}>
      <span class="progress-name">${is && task.reason ? t(`reason-${task.reason}`) : t(`state-${state}`)}</span>
      <span class="sr">${t(kind)}</span>
      <span class="progress-time quiet">${time}</span></li>`;
  })}</ol>`;
}

/** What was told on the way, newest last. @param {{ told: Told }} props */
function Messages({ told }) {
  const said = told.timeline.filter((one) => one.message && !ENDS.has(one.state ?? ""));
  if (!said.length || told.question || ENDS.has(told.task.state)) return null;
  const last = said[said.length - 1];
  return html`<p class="quiet message"><${Shown} text=${last.message} /></p>`;
}

// -- what was answered ----------------------------------------------------------------------------

/** @param {{ told: Told, stream: string }} props */
function Answer({ told, stream }) {
  const { task } = told;
  if (task.state === "PROPOSING" && stream) {
    return html`<section class="answer" aria-label=${t("answer")} aria-busy="true">
      <p class="quiet">${t("at-work")}</p><div class="quoted"><${Markdown} text=${stream} /></div></section>`;
  }
  const speech = task.speech;
  const text = task.answered && !speech ? task.details ?? "" : "";
  if (!speech && !text) return null;
  return html`<section class="answer" aria-label=${t("answer")}>
    ${speech && task.own && html`<${Lines} text=${task.own} />`}
    ${speech && speech.text && html`<figure class="quoted"><figcaption class="quiet">
      ${t("model-says", { model: speech.model })}</figcaption><${Markdown} text=${speech.text} /></figure>`}
    ${speech && speech.not_taken.length > 0 && html`<${Few} title=${t("left-out-edits")} lines=${speech.not_taken} />`}
    ${speech && speech.commands.length > 0 && html`<${Few} title=${t("suggested-commands")} lines=${speech.commands} />`}
    ${text && html`<${Lines} text=${text} workspace=${task.workspace ?? ""} />`}
  </section>`;
}

/** @param {{ title: string, lines: readonly string[] }} props */
function Few({ title, lines }) {
  return html`<details><summary>${title}</summary><ul>${lines.map((line) =>
    html`<li class="mono"><${Shown} text=${line} /></li>`)}</ul></details>`;
}

/** Our own lines; what was found opens its file at the line. @param {{ text: string, workspace?: string }} props */
function Lines({ text, workspace = "" }) {
  const places = useStore(store, (state) => state.status?.workspaces);
  const place = workspace || places?.find((one) => one.default)?.name || "";
  return html`<div class="lines">${text.split("\n").map((line) => {
    const hit = HIT.exec(line);
    if (!hit) return html`<p><${Shown} text=${line || " "} /></p>`;
    const path = hit[1].split("/").map(encodeURIComponent).join("/");
    return html`<p class="mono hit"><a href=${`#/files/${encodeURIComponent(place)}/${path}?line=${hit[2]}`}>
      <${Shown} text=${hit[1]} />:${hit[2]}</a> <${Shown} text=${hit[3]} /></p>`;
  })}</div>`;
}

/** @param {{ run: any, steps: Row[] }} props */
function RunSteps({ run, steps }) {
  const byId = new Map(steps.map((row) => [row.short_id, row]));
  const besides = steps.filter((row) => row.state === "WAITING_APPROVAL"
    && !run.steps.some((/** @type {any} */ step) => step.task === row.short_id));
  return html`<section aria-label=${run.playbook}>${besides.map((row) => html`<p class="actions">
      <a href=${`#/tasks/${row.short_id}`}>${wanted(row)}</a> <${Remind} task=${row.short_id} /></p>`)}
    <ol class="steps">${run.steps.map(
    (/** @type {any} */ step, /** @type {number} */ n) => {
      const asked = step.task && byId.get(step.task);
      return html`<li key=${n} class=${step.status}>
        <span class="step-mark" aria-hidden="true">${step.is_doubted ? "⚠" : STEP_MARKS[step.status] ?? "·"}</span>
        <span>${step.number ? `${step.number}. ` : ""}<${Shown} text=${step.name} /></span>
        <span class="chip">${t(`step-${step.type}`)}</span>
        <span class="quiet">${t(`run-${step.status}`)}</span>
        ${step.started_at && step.completed_at && html`<span class="quiet">${
          duration(step.completed_at - step.started_at)}</span>`}
        ${step.task && html`<a href=${`#/tasks/${step.task}`} class="mono">${step.task}</a>`}
        ${asked && asked.state === "WAITING_APPROVAL" && html`<${Remind} task=${asked.short_id} />`}
        ${step.error && html`<p class="danger"><${Shown} text=${step.error} /></p>`}</li>`;
    })}</ol></section>`;
}
/** @type {Record<string, string>} */
const STEP_MARKS = {
  completed: "✓", failed: "✗", skipped: "–", running: "▸", waiting: "!", pending: "·",
  rolled_back: "↩", interrupted: "✗",
};

// -- a question -----------------------------------------------------------------------------------

/** @param {{ told: Told, chosen: Chosen, saw: (ends: number[]) => void }} props */
function QuestionPart({ told, chosen, saw }) {
  const now = useNow();
  const asked = told.question, approval = told.approval;
  if (!asked || !approval) return null;
  return html`<section class=${asked.high_risk ? "question high" : "question"} aria-label=${say(asked.title)}>
    <div class="question-head">
      <h2>${say(asked.title)}</h2>
      <span class=${asked.high_risk ? "alarm" : "pill"}>${t(asked.high_risk ? "high-risk" : "normal-risk")}</span>
      <span class="quiet">${timeLeft(asked.expires_at, now)}</span>
    </div>
    ${approval.blocked && html`<p class="notice">${t("blocked", { why: approval.blocked })}</p>`}
    <dl class="facts">
      <dt>${t("asked-by")}</dt><dd>${say(asked.asked_by)}</dd>
      <dt>${t("place")}</dt><dd>${asked.workspace} <span class="mono quiet"><${Shown} text=${asked.place} /></span>
        ${asked.commit && html` <span class="quiet">${t("at-commit", { commit: asked.commit.slice(0, 12) })}</span>`}</dd>
      ${asked.reasons.length > 0 && html`<dt>${t("why-risky")}</dt><dd><ul>${asked.reasons.map(
        (/** @type {any} */ reason) => html`<li class=${asked.high_risk ? "danger" : ""}>${say(reason)}</li>`)}</ul></dd>`}
      <${Parts} told=${told} />
      ${asked.check && html`<dt>${t("checked")}</dt><dd class=${asked.check.tone}>
        ${asked.check.mark} ${say(asked.check.said)}</dd>`}
      <dt>${t("to-chat")}</dt><dd>${say(asked.afterwards)}</dd>
      <dt>${t("undo-said")}</dt><dd class=${asked.lasts ? "strong danger" : ""}>${say(asked.undo)}</dd>
      <dt>${t("code")}</dt><dd><span class="code">${asked.code}</span> <span class="quiet">${t("code-how")}</span></dd>
    </dl>
    <${End} key=${approval.approval_id} saw=${() => saw([-1])} />
    <${Proposed} told=${told} chosen=${chosen} saw=${saw} />
  </section>`;
}

/** What was decided on, once it is. @param {{ told: Told }} props */
function Decided({ told }) {
  const { approval, question } = told;
  if (!approval?.decided_at) return null;
  return html`<section aria-label=${t("decided")}>
    <p>${t(approval.state === "rejected" ? "decided-no" : "decided-yes", {
      face: t(`face-${approval.approver}`), when: exactMoment(approval.decided_at) })}
      ${" "}<span class="code">${approval.code}</span></p>
    ${question && html`<dl class="facts"><${Parts} told=${told} /></dl>`}
  </section>`;
}

/** What would be done, or was, as it is sealed. @param {{ told: Told }} props */
function Parts({ told }) {
  return (told.question?.parts ?? []).flat()
    .filter((/** @type {any} */ part) => part.kind !== "said" || !told.task.speech)
    .map((/** @type {any} */ part) => html`<${Part} part=${part} />`);
}

/** @param {{ part: any }} props */
function Part({ part }) {
  switch (part.type) {
    case "fact":
      return html`<dt>${say(part.label)}</dt><dd class=${part.exact ? "mono" : ""}>${part.values.map(
        (/** @type {any} */ value) => html`<p class=${`value ${value.tone}`}><${Shown} text=${say(value.text)} /></p>`)}</dd>`;
    case "lines":
      return html`<dt></dt><dd class="mono"><${Script} lines=${part.parts} first=${part.first} /></dd>`;
    case "steps":
      return html`<dt>${t("steps")}</dt><dd><ol>${part.steps.map((/** @type {any} */ step) => html`<li>
        <span class="pill">${t(`effect-${step.effect}`)}</span> ${say(step.what)}</li>`)}</ol></dd>`;
    case "files":
      return html`<dt>${t("files")}</dt><dd><p>${say(part.count)}</p>
        ${part.only && html`<p class="quiet">${say(part.only)}</p>`}
        ${part.left_out && html`<p class="strong">${say(part.left_out)}</p>`}</dd>`;
    default: return null;
  }
}

/** Each line under its number; an argument of several lines has them numbered within it. */
/** @param {{ lines: readonly string[], first: number }} props */
function Script({ lines, first }) {
  return html`<ol class="script" start=${first}>${lines.map((line) => html`<li>${line.includes("\n")
    ? html`<${Script} lines=${line.split("\n")} first=${1} />` : html`<${Shown} text=${line} />`}</li>`)}</ol>`;
}

/**
 * The diff of what is asked, and the choice of a part of it.
 * @param {{ told: Told, chosen: Chosen, saw: (ends: number[]) => void }} props
 */
function Proposed({ told, chosen, saw }) {
  const { files, approval, question } = told;
  const { choice, choose, whole, sent } = chosen;
  const task = told.task.short_id;
  if (!files.length || !approval || !question) return null;
  const can = approval.can_narrow || (files.length === 1 && files[0].hunks > 1 && question.action === "apply_diff");
  const total = files.reduce((all, file) => all + Math.max(file.hunks, 1), 0);
  const count = files.reduce((all, file) => {
    const kept = choice[file.path];
    return all + (kept === true ? Math.max(file.hunks, 1) : kept?.length ?? 0);
  }, 0);
  const narrow = () => api.post(`/api/tasks/${task}/narrow`, sent);
  return html`<${Diff} task=${task} files=${files} version=${approval.approval_id} saw=${saw}
      choice=${can ? choice : undefined} choose=${can ? choose : undefined} />
    ${can && !whole && html`<div class="narrowing card" role="status">
      <${ActButton} class="main" act=${narrow} disabled=${count === 0}>
        ${t("keep-chosen", { count, total })}</${ActButton}>
      <span class="quiet">${t("keep-how")}</span></div>`}`;
}

/** Have the question brought before the person, on this machine. */
/** @param {{ task: string, sent?: object }} props */
export function Remind({ task, sent = {} }) {
  const [said, setSaid] = useState("");
  const act = async () => {
    const { window: opens } = await api.post(`/api/tasks/${task}/remind`, sent);
    setSaid(t(opens ? "window-opens" : "no-window", { task }));
  };
  return html`<${ActButton} class="main" act=${act} title=${t("ask-here-how")}>${t("ask-here")}</${ActButton}>
    ${said && html`<span role="status" class="quiet">${said}</span>`}`;
}

// -- how it ended ---------------------------------------------------------------------------------

/** @param {{ told: Told }} props */
function Outcome({ told }) {
  const { task } = told;
  if (!ENDS.has(task.state)) return null;
  const said = task.said?.[lang()] ?? task.summary ?? "";
  const { run, change } = task;
  return html`<section class="outcome" aria-label=${t("outcome")}>
    ${said && !(task.answered && (task.details || task.speech)) && html`<p class=${`verdict ${toneOf(told.row)}`}><${Shown} text=${said} /></p>`}
    ${run && run.started && html`<${RunOutput} run=${run} task=${task.short_id} />`}
    ${change?.files && change.files.length > 0 && html`<ul class="changed">${change.files.map(
      (/** @type {any} */ file) => html`<li><span class="chip">${t(`op-${file.op}`)}</span>
        ${" "}<span class="mono"><${Shown} text=${file.path} /></span></li>`)}</ul>`}
  </section>`;
}

/** @param {{ run: any, task: string }} props */
function RunOutput({ run, task }) {
  const { output, files } = run;
  const whole = async () => download(`${task}.log`, await api.text(`/api/tasks/${task}/log`), "text/plain");
  return html`<p class="quiet">${run.exit_code !== null && t("exit-code", { code: run.exit_code })}
      ${" · "}${duration(run.duration_ms)}</p>
    ${output.tail ? html`<pre class="output" tabindex="0" aria-label=${t("output")}><${Shown} text=${output.tail} /></pre>`
      : html`<p class="quiet">${t("no-output")}</p>`}
    ${output.log_sha256 && html`<${ActButton} class="small" act=${whole}>${t("whole-output")}</${ActButton}>`}
    ${files && files.listed.length > 0 && html`<h3>${t("changed-files")}</h3><ul class="changed">${files.listed.map(
      (/** @type {any} */ file) => html`<li><span class="chip">${t(`file-${file.change}`)}</span>
        ${" "}<span class="mono"><${Shown} text=${file.path} /></span></li>`)}</ul>`}`;
}

/** @param {{ told: Told, revise: (task: string) => void, chosen: Chosen, seen: boolean }} props */
function Actions({ told, revise, chosen, seen }) {
  const { task, approval, question } = told;
  const id = task.short_id, over = ENDS.has(task.state);
  const asks = isOpen(told) && chosen.whole; // of a part the only way on is to ask for it alone
  const [sure, setSure] = useState(false);
  const go_on = async (/** @type {string} */ verb, /** @type {object} */ more = {}) => {
    const { short_id } = await api.post(`/api/tasks/${id}/${verb}`, { lang: lang(), ...more });
    if (short_id && short_id !== id) go(`/tasks/${short_id}`);
  };
  const check = async () => {
    const { short_id } = await api.post(`/api/tasks/${id}/check`, chosen.sent);
    go(`/tasks/${short_id}`);
  };
  const receipt = async () => download(`${id}.receipt.json`, await api.text(`/api/tasks/${id}/receipt`), "application/json");
  const proposes = told.files.length > 0 && !task.change;
  const unknown = task.reason === "unknown";
  return html`<div class="actions">
    ${asks && html`<${Remind} task=${id} sent=${question ? chosen.sent : {}} />`}
    ${asks && question && approval && html`<${Passkey} key=${approval.approval_id} question=${question}
      approval=${approval.approval_id} sent=${chosen.sent} seen=${seen} />`}
    ${task.rests && html`<${ActButton} class="main" title=${t("apply-how")} act=${() => go_on("want")}>${t("apply")}</${ActButton}>`}
    ${asks && approval?.can_check && html`<${ActButton} act=${check}>${t("check-first")}</${ActButton}>`}
    ${proposes && (task.rests || isOpen(told) || over) && !task.replaced_by && task.speech
      && html`<button type="button" onClick=${() => revise(id)}>${t("revise")}</button>`}
    ${task.left_to_undo && task.left_to_undo.length > 0 && html`<${ActButton} act=${() => go_on("undo")}>${t("undo")}</${ActButton}>`}
    ${task.left_to_undo && task.left_to_undo.length === 0 && html`<span class="quiet">${t("undone")}</span>`}
    ${over && task.reason !== "completed" && !task.part && (unknown && !sure
      ? html`<button type="button" onClick=${() => setSure(true)}>${t("retry")}</button>`
      : html`${unknown && html`<span class="danger">${t("retry-sure")}</span>`}
        <${ActButton} act=${() => go_on("retry", { may_have_run: unknown })}>${t("retry")}</${ActButton}>`)}
    ${over && told.approval && html`<${ActButton} act=${receipt}>${t("receipt")}</${ActButton}>`}
    ${!over && html`<${ActButton} act=${() => go_on("cancel")}>${t("cancel")}</${ActButton}>`}
  </div>`;
}

/** @param {{ told: Told }} props */
function Small({ told }) {
  const { task } = told;
  if (!task.turns.length) return null;
  return html`<footer class="small-print quiet">
    ${task.turns.map((turn) => html`<p>${t("model-use", {
      model: turn.model, time: duration(turn.duration_ms), read: turn.input_tokens, written: turn.output_tokens })}</p>`)}
    ${task.shown && html`<p>${t("model-shown", { count: task.shown.files, size: bytes(task.shown.bytes) })}</p>`}
  </footer>`;
}

// -- composer -------------------------------------------------------------------------------------

const HISTORY = 50;

/** @returns {string[]} */
function history_() {
  try {
    const kept = JSON.parse(localStorage.getItem("requests") ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Keep a text among the earlier requests. @param {string} said */
const remember = (said) => localStorage.setItem("requests",
  JSON.stringify([said, ...history_().filter((one) => one !== said)].slice(0, HISTORY)));

/** @param {{ revising: string, stop: () => void, example: { text: string } | null }} props */
function Composer({ revising, stop, example }) {
  const { boot, status } = useStore(store, (state) => state);
  const [text, setText] = useState(sessionStorage.getItem("draft") ?? "");
  useEffect(() => sessionStorage.setItem("draft", text), [text]);
  const [workspace, setWorkspace] = useState("");
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [shut, setShut] = useState(text !== ""); // the list of commands, until something is typed
  const back = useRef(-1);
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => { if (revising) box.current?.focus(); }, [revising]);
  useEffect(() => {
    if (!example) return;
    if (text.trim()) remember(text.trim()); // what was there is not lost
    back.current = -1;
    setText(example.text);
    box.current?.focus();
  }, [example]);
  useLayoutEffect(() => {
    const at = box.current;
    if (!at) return;
    at.style.height = "auto";
    at.style.height = `${Math.min(at.scrollHeight + 2, 200)}px`;
  }, [text]);
  const offers = revising || shut ? [] : completions(boot, text);
  const take = (/** @type {any} */ offer) => {
    setText(`${boot.prefix} ${offer[lang()].split(" ")[0]} `);
    box.current?.focus();
  };
  const send = async () => {
    const said = text.trim();
    if (!said || busy) return;
    setBusy(true);
    setWhy("");
    try {
      const { short_id } = await api.post("/api/ask", {
        text: revising ? `revise ${revising} ${said}` : said, workspace, lang: lang() });
      remember(said);
      back.current = -1;
      setText("");
      stop();
      go(`/tasks/${short_id}`);
    } catch (error) {
      setWhy(whyOf(error));
    }
    setBusy(false);
  };
  const recall = (/** @type {number} */ step) => {
    const past = history_();
    back.current = Math.max(-1, Math.min(back.current + step, past.length - 1));
    setText(past[back.current] ?? "");
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return; // an input method is choosing characters
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (offers.length && step) {
      event.preventDefault();
      setChosen((chosen + step + offers.length) % offers.length);
    } else if (offers.length && !event.shiftKey
      && (event.key === "Tab" || (event.key === "Enter" && !isWhole(boot, text)))) {
      event.preventDefault();
      take(offers[Math.min(chosen, offers.length - 1)]);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (step && (!text || back.current >= 0)) {
      event.preventDefault();
      recall(-step);
    } else if (event.key === "Escape" && offers.length) setShut(true);
    else if (event.key === "Escape" && revising) stop();
  };
  const input = (/** @type {any} */ event) => {
    back.current = -1;
    setChosen(0);
    setShut(false);
    setText(event.target.value);
  };
  const places = status?.workspaces ?? [];
  return html`<form class="composer" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); send(); }}>
    ${revising && html`<p class="revising"><span class="pill work">${t("revising", { task: revising })}</span>
      <button type="button" class="link" onClick=${stop}>${t("stop-revising")}</button></p>`}
    ${why && html`<p role="alert" class="danger">${why}</p>`}
    ${!places.length && status && html`<p class="notice">${t("no-workspace")}</p>`}
    ${offers.length > 0 && html`<ul class="offers card" id="offers" role="listbox" aria-label=${t("commands")}>
      ${offers.map((/** @type {any} */ offer, /** @type {number} */ n) => html`<li key=${offer.name} id=${`offer-${n}`} role="option"
        aria-selected=${n === chosen} onMouseDown=${(/** @type {Event} */ e) => { e.preventDefault(); take(offer); }}>
        <span class="mono">${offer[lang()]}</span> <span class="quiet">${say(offer.summary)}</span></li>`)}</ul>`}
    <div class="composer-row">
      <textarea ref=${box} rows="1" value=${text} onInput=${input} onKeyDown=${keys}
        onBlur=${() => setShut(true)} onFocus=${() => setShut(false)}
        aria-label=${t("compose")} title=${t("send-how")}
        aria-controls=${offers.length ? "offers" : undefined} aria-autocomplete="list"
        aria-activedescendant=${offers.length ? `offer-${Math.min(chosen, offers.length - 1)}` : undefined}
        placeholder=${revising ? t("revise-hint") : t("compose-hint", { prefix: boot.prefix })} maxlength="20000"></textarea>
      ${places.length > 1 && html`<select aria-label=${t("workspace")} value=${workspace}
        onChange=${(/** @type {any} */ event) => setWorkspace(event.target.value)}>
        ${places.map((place) => html`<option value=${place.default ? "" : place.name}>${
          place.default ? t("default-workspace", { name: place.name }) : place.name}</option>`)}</select>`}
      <button type="submit" class="main" disabled=${busy || !text.trim()}>${t("send")}</button>
    </div>
  </form>`;
}

/** True where a command needs no more. @param {any} boot @param {string} text */
const isWhole = (boot, text) => boot.verbs.some((/** @type {any} */ verb) => [verb.en, verb.zh].some(
  (usage) => `${boot.prefix} ${usage.split(" ")[0]}` === text.trim()));

/** The commands that begin as what was typed after the prefix. @param {any} boot @param {string} text */
function completions(boot, text) {
  if (!text.startsWith(boot.prefix)) return [];
  const rest = text.slice(boot.prefix.length).trimStart().toLowerCase();
  if (/\s/.test(rest)) return [];
  return boot.verbs.filter((/** @type {any} */ verb) => verb.en.toLowerCase().startsWith(rest)
    || verb.zh.startsWith(rest)).slice(0, 8);
}

// -- approvals ------------------------------------------------------------------------------------

export function Approvals() {
  const status = useStore(store, (state) => state.status);
  const now = useNow();
  const waiting = status?.approvals ?? [];
  return html`<main id="content" class="column" tabindex="-1">
    <h1>${t("approvals")}</h1>
    <p class="quiet">${t("ask-here-how")}</p>
    ${!waiting.length && html`<div class="empty"><p><strong>${t("no-approvals")}</strong></p><p>${t("no-approvals-how")}</p></div>`}
    <ul class="queue">${waiting.map((/** @type {any} */ row) => html`<li key=${row.task_id} class="card">
      <div class="listed-top"><a class="mono" href=${`#/tasks/${row.short_id}`}>${row.short_id}</a>
        <span class=${row.risk === "normal" ? "pill" : "alarm"}>${t(row.risk === "normal" ? "normal-risk" : "high-risk")}</span>
        <strong class="countdown">${timeLeft(row.expires_at, now)}</strong></div>
      <p class="request-text quoted"><${Shown} text=${wanted(row)} /></p>
      <p class="quiet"><${Sender} row=${row} />${row.workspace && ` · ${row.workspace}`}</p>
      <div class="actions"><${Remind} task=${row.short_id} />
        <a class="button" href=${`#/tasks/${row.short_id}`}>${t("look")}</a></div>
    </li>`)}</ul>
  </main>`;
}

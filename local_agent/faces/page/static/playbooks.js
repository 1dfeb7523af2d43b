// @ts-check
/** Playbooks: what there is, beginning one, and the runs that there were. */
import { ActButton, Shown, api, exactMoment, html, lang, moment, say, t, useEffect, useState, useStore, whyOf } from "/kit/kit.js";
import { go, store, useMessages } from "/app.js";

/** @typedef {import("/views.js").PagePlaybook} Playbook */
/** @typedef {import("/views.js").PagePlaybooks} Told */

export function Playbooks() {
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const [why, setWhy] = useState("");
  const load = async () => {
    try {
      setTold(await api.get("/api/playbooks"));
      setWhy("");
    } catch (error) {
      setWhy(whyOf(error));
    }
  };
  useEffect(() => { load(); }, []);
  useMessages((message) => {
    if (message.type === "hello" || (message.type === "task" && message.row.run)) load();
  }, []);
  return html`<main id="content" class="column" tabindex="-1">
    <h1>${t("playbooks")}</h1>
    ${why && html`<p role="alert" class="notice">${why}</p>`}
    ${told && html`<ul class="queue">${told.playbooks.map((one) => html`<${Listed} key=${one.name} playbook=${one} />`)}</ul>
      <h2>${t("runs")}</h2>
      ${!told.runs.length && html`<p class="empty">${t("no-runs")}</p>`}
      ${told.runs.length > 0 && html`<div class="table" tabindex="0" role="region" aria-label=${t("runs")}><table class="wide">
        <thead><tr><th>${t("task")}</th><th>${t("playbook")}</th><th>${t("state")}</th><th>${t("begun")}</th><th>${t("actions")}</th></tr></thead>
        <tbody>${told.runs.map((run) => html`<${Run} key=${run.task_id} run=${run} />`)}</tbody></table></div>`}`}
  </main>`;
}

/** @param {{ playbook: Playbook }} props */
function Listed({ playbook }) {
  const [open, setOpen] = useState(false);
  const about = say(playbook.about);
  return html`<li class="card">
    <div class="listed-top"><strong>${playbook.name}</strong>
      <span class="chip">${t(`origin-${playbook.origin}`)}</span>
      ${playbook.instead && html`<span class="chip">${t("instead")}</span>`}
      ${playbook.risk && html`<span class=${playbook.risk === "high" ? "pill warn" : "pill"}>${t(`risk-${playbook.risk}`)}</span>`}
    </div>
    ${playbook.broken && html`<p class="danger">${say(playbook.broken)}</p>`}
    ${about && html`<p><${Shown} text=${about} /></p>`}
    ${playbook.keywords.length > 0 && html`<p class="quiet">${t("asked-by-words", { words: playbook.keywords.join(" · ") })}</p>`}
    ${!playbook.broken && html`<details><summary>${t("steps-count", { count: playbook.steps.length })}</summary>
      <ol class="numbered">${playbook.steps.map((step) => html`<li><span class="chip">${t(`step-${step.type}`)}</span>
        ${" "}<strong><${Shown} text=${step.name} /></strong> ${step.tool && html`<code>${step.tool}</code>`}
        ${step.description && html` <span class="quiet"><${Shown} text=${step.description} /></span>`}
        ${step.condition && html`<br /><span class="quiet">${t("only-if")} <code>${step.condition}</code></span>`}</li>`)}</ol></details>
      ${open ? html`<${Begin} name=${playbook.name} close=${() => setOpen(false)} />`
        : html`<div class="actions"><button type="button" onClick=${() => setOpen(true)}>${t("run-playbook")}</button></div>`}`}
  </li>`;
}

/** @param {{ name: string, close: () => void }} props */
function Begin({ name, close }) {
  const status = useStore(store, (state) => state.status);
  const [message, setMessage] = useState("");
  const [workspace, setWorkspace] = useState("");
  const begin = (/** @type {boolean} */ dry) => async () => {
    const { short_id } = await api.post(`/api/playbooks/${encodeURIComponent(name)}/play`, {
      message, workspace, dry, lang: lang() });
    go(`/tasks/${short_id}`);
  };
  const places = status?.workspaces ?? [];
  return html`<form class="begin" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label>${t("playbook-message")} <input type="text" value=${message}
      onInput=${(/** @type {any} */ event) => setMessage(event.target.value)} /></label>
    ${places.length > 1 && html`<label>${t("workspace")} <select value=${workspace}
      onChange=${(/** @type {any} */ event) => setWorkspace(event.target.value)}>
      ${places.map((place) => html`<option value=${place.default ? "" : place.name}>${place.name}</option>`)}</select></label>`}
    <div class="actions"><${ActButton} class="main" act=${begin(false)}>${t("run-now")}</${ActButton}>
      <${ActButton} act=${begin(true)} title=${t("dry-run-how")}>${t("dry-run")}</${ActButton}>
      <button type="button" onClick=${close}>${t("close")}</button></div>
    <p class="quiet">${t("run-how")}</p>
  </form>`;
}

/** @param {{ run: Told["runs"][number] }} props */
function Run({ run }) {
  const go_on = (/** @type {string} */ verb) => async () => {
    const { short_id } = await api.post(`/api/tasks/${run.short_id}/${verb}`, { lang: lang() });
    go(`/tasks/${short_id}`);
  };
  const tone = { completed: "good", failed: "bad", running: "work", pending: "work" }[run.status] ?? "";
  return html`<tr><td>${run.short_id && html`<a class="mono" href=${`#/tasks/${run.short_id}`}>${run.short_id}</a>`}</td>
    <td>${run.task_name}${run.dry_run && html` <span class="chip">${t("dry-run")}</span>`}</td>
    <td><span class=${`pill ${tone}`}>${t(`run-${run.ended || run.status}`)}</span></td>
    <td>${run.started_at && html`<time title=${exactMoment(run.started_at)}>${moment(run.started_at)}</time>`}</td>
    <td><div class="actions">
      ${run.short_id && run.status === "failed" && html`<${ActButton} class="small" act=${go_on("resume")}>${t("resume")}</${ActButton}>`}
      ${run.short_id && ["completed", "failed"].includes(run.status)
        && html`<${ActButton} class="small" act=${go_on("roll_back")}>${t("roll-back")}</${ActButton}>`}</div></td></tr>`;
}

// @ts-check
/** What is kept and what is set: the audit log, and the settings in force. */
import { ActButton, api, exactMoment, html, lang, session, t, useEffect, useState, useStore, whyOf } from "/kit/kit.js";
import { prefer, store } from "/app.js";

/** @typedef {import("/views.js").AuditView} AuditView */
/** @typedef {import("/views.js").AuditCheck} AuditCheck */

export function Audit() {
  const [pages, setPages] = useState(/** @type {AuditView[]} */ ([]));
  const [check, setCheck] = useState(/** @type {AuditCheck | null} */ (null));
  const [why, setWhy] = useState("");
  const last = pages[pages.length - 1];
  const load = async () => {
    try {
      const told = await api.get(`/api/audit${last?.before ? `?before=${last.before}` : ""}`);
      setPages((/** @type {AuditView[]} */ before) => [...before, told]);
    } catch (error) {
      setWhy(whyOf(error));
    }
  };
  useEffect(() => { load(); }, []);
  const verify = async () => setCheck(await api.post("/api/audit/verify"));
  const standing = pages[0]?.standing;
  return html`<main id="content" class="column" tabindex="-1">
    <h1>${t("audit")}</h1>
    ${why && html`<p role="alert" class="notice">${why}</p>`}
    ${standing && html`<section class="card padded" aria-label=${t("chain")}>
      <p><strong>${t("chain-entries", { count: standing.entries })}</strong>
        ${" "}${standing.gateway_keeps > 0 ? t("gateway-keeps", { seq: standing.gateway_keeps }) : t("gateway-keeps-none")}</p>
      ${standing.forked_at && html`<p class="notice bad">${t("forked", { at: exactMoment(standing.forked_at) })}</p>`}
      <div class="actions"><${ActButton} act=${verify}>${t("verify")}</${ActButton}>
        ${check && html`<span role="status" class=${check.ok ? "good" : "danger"}>${check.ok
          ? t("chain-holds", { count: check.entries })
          : t("chain-broken", { seq: check.broken_at ?? "?", what: t(`fault-${check.what}`) })}</span>`}</div>
      <p class="quiet">${t("receipts-where")}</p>
    </section>`}
    <div class="table" tabindex="0" role="region" aria-label=${t("entries")}><table class="wide"><thead><tr><th>${t("number")}</th>
      <th>${t("when")}</th><th>${t("what-happened")}</th><th>${t("task")}</th><th>${t("details")}</th></tr></thead>
      <tbody>${pages.flatMap((page) => page.entries).map((entry) => html`<tr key=${entry.seq}>
        <td class="mono">${entry.seq}</td><td>${entry.at > 0 && exactMoment(entry.at)}</td>
        <td>${t(`event-${entry.event}`)}</td>
        <td>${entry.tasks.map((task) => html`<a class="mono" href=${`#/tasks/${task}`}>${task}</a> `)}</td>
        <td><details><summary>${t("facts-count", { count: entry.facts.length + entry.left })}</summary>
          <dl class="facts small-facts">${entry.facts.map((fact) => html`<dt class="mono">${fact.name}</dt>
            <dd class="mono">${fact.value}</dd>`)}</dl></details></td></tr>`)}</tbody></table></div>
    ${last?.before && html`<button onClick=${load}>${t("more")}</button>`}
  </main>`;
}

export function Settings() {
  const { theme } = useStore(store, (state) => state);
  const [told, setTold] = useState(/** @type {any} */ (null));
  const [why, setWhy] = useState("");
  useEffect(() => { api.get("/api/settings").then(setTold, (error) => setWhy(whyOf(error))); }, []);
  const leave = async () => {
    await api.post("/api/leave");
    localStorage.clear(); // what was asked for here as well
    sessionStorage.clear();
    session.over();
  };
  return html`<main id="content" class="column" tabindex="-1">
    <h1>${t("settings")}</h1>
    <section class="card padded" aria-label=${t("this-page")}>
      <h2>${t("this-page")}</h2>
      <div class="actions">
        <label>${t("language")} <select value=${lang()} onChange=${(/** @type {any} */ event) => prefer({ lang: event.target.value })}>
          <option value="zh">中文</option><option value="en">English</option></select></label>
        <label>${t("theme")} <select value=${theme} onChange=${(/** @type {any} */ event) => prefer({ theme: event.target.value })}>
          ${["auto", "light", "dark"].map((one) => html`<option value=${one}>${t(`theme-${one}`)}</option>`)}</select></label>
        <${ActButton} act=${leave}>${t("leave")}</${ActButton}></div>
    </section>
    ${why && html`<p role="alert" class="notice">${why}</p>`}
    ${told && html`<section class="section"><h2>${t("workspaces")}</h2>
      <ul class="queue">${told.workspaces.workspaces.map((/** @type {any} */ one) => html`<li class="card">
        <div class="listed-top"><strong>${one.name}</strong>${one.default && html`<span class="chip">${t("default")}</span>`}</div>
        <p class="mono quiet">${one.path}</p>
        <p>${t("disclosed", { level: t(`disclosure-${one.disclosure}`) })} · ${t(`policy-${one.policy.state}`)}</p></li>`)}</ul></section>
    <section class="section"><h2>${t("passkeys")}</h2>
      ${!told.passkeys.passkeys.length && html`<p class="quiet">${t("no-passkeys")}</p>`}
      <ul>${told.passkeys.passkeys.map((/** @type {any} */ one) => html`<li>${one.name}
        ${" "}<span class="quiet">${exactMoment(one.created_at)}</span></li>`)}</ul></section>
    <section class="section"><h2>${t("models")}</h2>
      ${!told.models.models.length && html`<p class="quiet">${t("no-models")}</p>`}
      <ul class="queue">${told.models.models.map((/** @type {any} */ one) => html`<li class="card">
        <div class="listed-top"><strong>${one.name}</strong><span class="chip">${one.kind}</span>
          ${one.asked && html`<span class="pill work">${t("is-asked")}</span>`}</div>
        <p class="mono quiet">${one.model}</p>
        <p class="quiet">${t("model-turns", { count: one.used.turns, days: told.models.days, read: one.used.input_tokens, written: one.used.output_tokens })}</p></li>`)}</ul></section>
    <section class="section"><h2>${t("in-force")}</h2>
      <p class="quiet">${told.settings.file ? t("settings-file", { file: told.settings.file }) : t("no-settings-file")}
        ${" "}${t("settings-how")}</p>
      ${told.settings.problem && html`<p class="notice bad">${t("settings-problem")} <code>${told.settings.problem.code}</code></p>`}
      <div class="table" tabindex="0" role="region" aria-label=${t("in-force")}><table class="wide"><thead><tr><th>${t("setting")}</th><th>${t("value")}</th><th>${t("comes-from")}</th></tr></thead>
      <tbody>${told.settings.settings.map((/** @type {any} */ one) => html`<tr key=${one.name}>
        <td><code>${one.name}</code><br /><span class="quiet">${(told.described[one.key] ?? ["", ""])[lang() === "zh" ? 1 : 0]}</span></td>
        <td class="mono">${one.value ?? "—"}${one.changed && html`<br /><span class="notice">${t("after-restart", { value: one.after_restart ?? "—" })}</span>`}</td>
        <td>${t(`source-${one.source}`)}${one.where && one.source !== "default" && html`<br /><code class="quiet">${one.where}</code>`}</td></tr>`)}</tbody></table></div></section>`}
  </main>`;
}

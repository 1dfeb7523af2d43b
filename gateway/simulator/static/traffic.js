// @ts-check
/** What went over the wire: each callback and each call, encrypted and decrypted, to send again. */
import { ActButton, html, lang, t, useState, useStore } from "/kit/kit.js";
import { ask, outcome, store } from "/sim.js";

/** @typedef {import("/sim.js").Exchange} Exchange */

/** XML with a line for each field, as people read it. @param {string} text */
function laidOut(text) {
  if (!text.startsWith("<")) return text;
  let depth = 0;
  return text.split(/(?<=>)(?=<(?!!))/).map((part) => {
    if (part.startsWith("</")) depth -= 1;
    const line = "  ".repeat(Math.max(depth, 0)) + part;
    if (/^<[^/!?][^>]*>$/.test(part)) depth += 1;
    return line;
  }).join("\n");
}

/** @param {Exchange} one */
const isWell = (one) => one.status === 200 && !one.note && (one.errcode ?? 0) === 0;

/** @param {{ one: Exchange }} props */
function Status({ one }) {
  const said = one.status === 0 ? t("status-none")
    : one.errcode === null ? `HTTP ${one.status}` : one.status === 200 ? `errcode ${one.errcode}` : `HTTP ${one.status}`;
  return html`<span class=${`pill ${isWell(one) ? "good" : "bad"}`}>${said}</span>`;
}

/** @param {{ title: string, text: string, none?: string }} props */
function Part({ title, text, none = "empty" }) {
  return html`<h3>${title}</h3><pre tabindex="0" role="region" aria-label=${title}>${text.trim() ? text : t(none)}</pre>`;
}

/** @param {{ one: Exchange }} props */
function Details({ one }) {
  const [wire, setWire] = useState(false);
  const again = (/** @type {boolean} */ renewed) => async () => outcome(await ask("repeat", { number: one.number, renewed }));
  return html`<div class="exchange-body">
    ${one.note && html`<p class="notice bad">${t(one.kind === "callback" ? "wecom-refuses" : "met", { why: one.note, name: one.note })}</p>`}
    <div class="actions"><div class="switch" role="group" aria-label=${t("view")}>
      <button type="button" class="small" aria-pressed=${String(!wire)} onClick=${() => setWire(false)}>${t("decrypted")}</button>
      <button type="button" class="small" aria-pressed=${String(wire)} onClick=${() => setWire(true)}>${t("wire")}</button></div>
      ${one.kind === "callback" && html`<span class="replay" role="group" aria-label=${t("replay")}><span class="quiet small">${t("replay")}</span>
        <${ActButton} class="small" act=${again(false)}>${t("replay-same")}</${ActButton}>
        <${ActButton} class="small" act=${again(true)}>${t("replay-renewed")}</${ActButton}></span>`}</div>
    <${Part} title=${t("request")} text=${wire ? one.sent : laidOut(one.sent_plain)} />
    <${Part} title=${t("answer")} text=${wire ? one.answered : laidOut(one.answered_plain)} none=${one.status ? "empty" : "status-none"} />
  </div>`;
}

export function Traffic() {
  const { exchanges, app } = useStore(store, (all) => all);
  const [shown, show] = useState("all");
  const [open, setOpen] = useState(0);
  const rows = exchanges.filter((one) => (one.app === app || !one.app)
    && (shown === "all" || (shown === "faults" ? !isWell(one) : shown === (one.kind === "api" ? "calls" : "callbacks")))).reverse();
  return html`<section class="pane traffic" aria-labelledby="traffic-title">
    <header class="pane-head"><h2 id="traffic-title">${t("traffic")}</h2>
      <div class="switch" role="group" aria-label=${t("show")}>${["all", "callbacks", "calls", "faults"].map((one) => html`
        <button type="button" class="small" key=${one} aria-pressed=${String(shown === one)} onClick=${() => show(one)}>${t(one)}</button>`)}</div>
    </header>
    <div class="rows" tabindex="0" role="group" aria-label=${t("exchanges")}>
      ${!rows.length && html`<p class="empty">${t("no-traffic")}</p>`}
      <ol>${rows.map((one) => html`<li key=${one.number} class=${one.kind}>
        <button type="button" class="exchange" aria-expanded=${String(open === one.number)} onClick=${() => setOpen(open === one.number ? 0 : one.number)}>
          <span class="way" aria-hidden="true">${one.kind === "callback" ? "↓" : "↑"}</span>
          <span class="what"><span class="sr">${t(`direction-${one.kind}`)}: </span><strong>${one.what}</strong>
            <span class="quiet small">${t(`direction-${one.kind}`)}${one.attempt > 1 ? ` · ${t("attempt", { n: one.attempt })}` : ""}</span></span>
          <${Status} one=${one} />
          <span class="quiet small when">${new Date(one.at_ms).toLocaleTimeString(lang() === "zh" ? "zh-CN" : "en-GB")}<span class="dot" aria-hidden="true"> · </span><span class="took">${t("took", { ms: one.took_ms })}</span></span>
        </button>
        ${open === one.number && html`<${Details} one=${one} />`}</li>`)}</ol>
    </div>
  </section>`;
}

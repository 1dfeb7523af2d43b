// @ts-check
/** What goes wrong with the API of the chosen app, switched on and off; and what its console holds. */
import { ActButton, html, lang, t, useState, useStore } from "/kit/kit.js";
import { announce, ask, store, why } from "/sim.js";

/** @typedef {import("/sim.js").Fault} Fault */

/** How long an error lasts. @type {Record<string, object>} */
const LASTS = { "for-off": {}, "for-once": { count: 1 }, "for-thrice": { count: 3 }, "for-20": { seconds: 20 } };

/** @param {{ on: boolean, label: any, hint?: string, toggle: () => void }} props */
function Switch({ on, label, hint, toggle }) {
  return html`<button type="button" role="switch" class="toggle" aria-checked=${String(on)} onClick=${toggle}>
    <span class="knob" aria-hidden="true"></span><span class="toggle-text">${label}${hint && html`<span class="quiet small">${hint}</span>`}</span></button>`;
}

/** @param {Fault | undefined} fault */
function rest(fault) {
  if (fault?.left) return t("left", { n: fault.left });
  if (!fault?.until_ms) return "";
  return t("until", { time: new Date(fault.until_ms).toLocaleTimeString(lang() === "zh" ? "zh-CN" : "en-GB") });
}

export function Errors() {
  const { state, app } = useStore(store, (all) => all);
  const [lasts, setLasts] = useState("for-off");
  const [wrong, setWrong] = useState("");
  const current = state?.apps.find((one) => one.name === app);
  if (!state || !current) return null;
  /** @param {string} path @param {object} body */
  const change = async (path, body) => {
    setWrong("");
    try {
      store.set({ state: await ask(path, body) });
    } catch (error) {
      setWrong(why(error));
    }
  };
  /** @param {string} name */
  const isOn = (name) => (name === "unreachable" ? state.unreachable : name in current.faults);
  const end = (/** @type {string} */ how) => async () => {
    await ask("tokens", { how });
    announce(t("tokens-ended"));
  };
  return html`<section class="pane errors" aria-labelledby="errors-title">
    <header class="pane-head"><h2 id="errors-title">${t("errors")}</h2>
      <label class="small">${t("for")} <select value=${lasts} onChange=${(/** @type {any} */ event) => setLasts(event.target.value)}>
        ${Object.keys(LASTS).map((one) => html`<option key=${one} value=${one}>${t(one)}</option>`)}</select></label></header>
    <div class="settings" tabindex="0" role="group" aria-label=${t("switches")}>
      ${wrong && html`<p role="alert" class="notice bad">${wrong}</p>`}
      <ul class="faults">${state.faults.map(({ name, ...label }) => html`<li key=${name}><${Switch} on=${isOn(name)}
        label=${html`<span><code>${name}</code> ${label[lang()]}</span>`} hint=${rest(current.faults[name])}
        toggle=${() => change("fault", isOn(name) ? { name, on: false } : { name, on: true, ...LASTS[lasts] })} /></li>`)}</ul>
      <p><button type="button" onClick=${() => change("fault", { name: "", on: false })}>${t("all-off")}</button></p>
      <h3>${t("tokens")}</h3>
      <div class="actions"><${ActButton} class="small" act=${end("expire")}>${t("tokens-expire")}</${ActButton}>
        <${ActButton} class="small" act=${end("forget")}>${t("tokens-forget")}</${ActButton}></div>
      <h3>${t("callback-settings")}</h3>
      <${Switch} on=${state.renewed} label=${t("renewed")} toggle=${() => change("timing", { renewed: !state.renewed })} />
      <p class="quiet small">${t("renewed-why")}</p>
      <dl class="small facts"><dt>${t("callback-url")}</dt><dd class="mono">${current.callback_url || t("not-saved")}</dd>
        <dt>${t("corp")}</dt><dd class="mono">${current.corp_id}</dd><dt>${t("agent-id")}</dt><dd class="mono">${current.app_id}</dd>
        <dt>${t("trusted")}</dt><dd class="mono">${current.trusted_ip === "*" ? t("any") : current.trusted_ip || t("not-saved")}</dd>
        <dt>${t("members")}</dt><dd>${current.members.join(", ") || t("everybody")}</dd></dl>
    </div>
  </section>`;
}

// @ts-check
/** The page of the simulated WeCom: what it knows and hears, the chat, and what surrounds it. */
import {
  api, html, lang, newStore, RefusedError, render, speak, t, useEffect, useRef, useState, useStore,
} from "/kit/kit.js";
import { Card } from "/cards.js";
import { Errors } from "/errors.js";
import { Traffic } from "/traffic.js";
import { catalogue } from "/words.js";

/**
 * @typedef {{ number: number, id: number, app: string, sender: "member" | "app" | "system",
 *   user: string, text: string, at_ms: number, card: any, chosen: string }} Message
 * @typedef {{ number: number, app: string, kind: "callback" | "api", what: string, at_ms: number,
 *   took_ms: number, attempt: number, status: number, errcode: number | null, sent: string,
 *   sent_plain: string, answered: string, answered_plain: string, note: string }} Exchange
 * @typedef {{ until_ms: number | null, left: number | null, address: string }} Fault
 * @typedef {{ name: string, corp_id: string, app_id: number, callback_url: string,
 *   trusted_ip: string, members: string[], faults: Record<string, Fault> }} App
 * @typedef {{ apps: App[], faults: { name: string, en: string, zh: string }[], renewed: boolean, unreachable: boolean }} State
 */

const KEPT = 500;
const EXAMPLES = ["@dev help", "@dev status", "@dev test", "@dev 跑一下测试"];
const CARD = {
  card_type: "button_interaction",
  source: { desc: "CodexBridge" },
  main_title: { title: "T-7K3F", desc: "python3 -m unittest" },
  horizontal_content_list: [
    { keyname: "Machine", value: "dev-1" }, { keyname: "State", value: "waits" },
  ],
  button_list: [
    { text: "Status", key: "status", style: 1 }, { text: "Stop watching", key: "stop", style: 2 },
  ],
};

export const store = newStore({
  /** @type {State | null} */
  state: null,
  /** @type {Map<number, Message>} */
  messages: new Map(),
  /** @type {Exchange[]} */
  exchanges: [],
  app: "",
  user: localStorage.getItem("sim-user") ?? "zhangwei",
  lost: false,
  view: "chat",
  lang: /** @type {"en" | "zh"} */ (localStorage.getItem("sim-lang")
    ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en")),
  dark: localStorage.getItem("sim-theme")
    ? localStorage.getItem("sim-theme") === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches,
  said: "",
});

/** Say something to whoever cannot see it change. @param {string} said */
export const announce = (said) => store.set({ said });

/** @param {unknown} error */
export const why = (error) => t(error instanceof RefusedError ? error.told.code : "failed");

/** Tell what a callback came to. @param {{ status: number }} answer */
export function outcome({ status }) {
  announce(status === 200 ? t("taken") : status ? t("not-taken", { status }) : t("no-answer"));
}

/** @param {string} path @param {object} body */
export async function ask(path, body) {
  return api.post(`/api/${path}`, { app: store.get().app, ...body });
}

export async function refresh() {
  /** @type {State} */
  const state = await api.get("/api/state");
  const { app } = store.get();
  const known = state.apps.some((one) => one.name === app);
  store.set({ state, app: known ? app : state.apps[0]?.name ?? "" });
}

async function follow() {
  let after = 0;
  for (;;) {
    try {
      await refresh();
      const told = await api.get(`/api/feed?after=${after}&wait=1`);
      const { messages, exchanges } = store.get();
      const all = new Map(messages);
      for (const one of told.messages) all.set(one.id, one);
      for (const one of [...told.messages, ...told.exchanges]) after = Math.max(after, one.number);
      store.set({
        lost: false,
        // The feed is in order of change: after a reload a card that changed would stand last.
        messages: new Map([...all].sort(([one], [other]) => one - other).slice(-KEPT)),
        exchanges: [...exchanges, ...told.exchanges].slice(-KEPT),
      });
    } catch {
      store.set({ lost: true });
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

function dress() {
  const { dark, lang: chosen } = store.get();
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  speak(catalogue(chosen), chosen);
  document.title = `CodexBridge · ${t("title")}`;
}

/** What the simulator itself says of a callback. @param {string} text */
function remark(text) {
  const [key, ...rest] = text.split(" ");
  return t(key, { status: rest[0], why: rest.join(" ") });
}

/** @param {{ message: Message }} props */
function Bubble({ message }) {
  const { app, user, sender } = message;
  const who = sender === "app" ? t("from-app", { app })
    : sender === "member" ? t("from-member", { user }) : t("from-simulator");
  const at = new Date(message.at_ms);
  return html`<li class=${`said ${sender}`}>
    <span class="sr">${who}</span>
    ${message.card ? html`<${Card} message=${message} />` : html`<p class="words">${sender === "system" ? remark(message.text) : message.text}</p>`}
    <time class="quiet" datetime=${at.toISOString()}>${at.toLocaleTimeString(lang() === "zh" ? "zh-CN" : "en-GB")}</time>
  </li>`;
}

function Chat() {
  const { messages, app, user } = useStore(store, (all) => all);
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState("");
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  const mine = [...messages.values()].filter((one) => one.app === app && one.user === user);
  useEffect(() => { if (end.current) end.current.scrollTop = end.current.scrollHeight; }, [mine.length, mine[mine.length - 1]?.number]);
  /** @param {string} path @param {object} body */
  const act = async (path, body) => {
    setWrong("");
    try {
      const answer = await ask(path, { user, ...body });
      if ("status" in answer) outcome(answer);
    } catch (error) {
      setWrong(why(error));
    }
  };
  /** @param {Event} event */
  const send = (event) => {
    event.preventDefault();
    if (!text.trim() || !user) return;
    setText("");
    act("say", { text });
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  const sendCard = () => act("call", {
    message: { touser: user, msgtype: "template_card", template_card: { ...CARD, task_id: `T-${Date.now()}` } },
  });
  return html`<section class="pane chat" aria-labelledby="chat-title">
    <header class="pane-head"><h2 id="chat-title">${t("chat-with", { app })}</h2>
      <label class="who">${t("as-member")} <input type="text" value=${user} maxlength="64" spellcheck="false" autocomplete="off"
        onInput=${(/** @type {any} */ event) => { const name = event.target.value.trim(); localStorage.setItem("sim-user", name); store.set({ user: name }); }} /></label>
    </header>
    <div class="talk" ref=${end} tabindex="0" role="log" aria-label=${t("messages")}>
      ${!mine.length && html`<p class="empty">${t("no-messages")}</p>`}
      <ol>${mine.map((one) => html`<${Bubble} key=${one.id} message=${one} />`)}</ol>
    </div>
    <div class="examples" role="group" aria-label=${t("try")}>
      ${EXAMPLES.map((one) => html`<button type="button" class="small" key=${one} onClick=${() => setText(one)}>${one}</button>`)}
      <button type="button" class="small" onClick=${sendCard}>${t("try-card")}</button>
      <button type="button" class="small" onClick=${() => act("event", { name: "enter_agent" })}>${t("try-enter")}</button>
    </div>
    ${wrong && html`<p role="alert" class="notice bad">${wrong}</p>`}
    <form class="composer" onSubmit=${send}>
      <label class="sr" for="words">${t("placeholder")}</label>
      <textarea id="words" rows="1" maxlength="4000" spellcheck="false" placeholder=${t("placeholder")} value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.target.value)} onKeyDown=${key}></textarea>
      <button class="main" type="submit">${t("send")}</button>
    </form>
    <p class="quiet note">${t("note")}</p>
  </section>`;
}

function Top() {
  const { state, app, dark, lang: chosen } = useStore(store, (all) => all);
  const names = state?.apps.map((one) => one.name) ?? [];
  const on = Object.keys(state?.apps.find((one) => one.name === app)?.faults ?? {}).length + Number(state?.unreachable ?? false);
  return html`<header class="top">
    <a class="skip" href="#words">${t("skip")}</a>
    <h1 class="brand"><img src="/icon.svg" alt="" width="22" height="22" /> CodexBridge <span class="quiet">${t("title")}</span></h1>
    <span class="chip">${t("only-here")}</span>
    <label class="choose">${t("app")} <select value=${app} onChange=${(/** @type {any} */ event) => store.set({ app: event.target.value })}>
      ${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
    ${on > 0 && html`<span class="pill warn">${t("errors-on", { count: on })}</span>`}
    <span class="tools">
      <button type="button" class="small" lang=${chosen === "zh" ? "en" : "zh-CN"} onClick=${() => { const next = chosen === "zh" ? "en" : "zh"; localStorage.setItem("sim-lang", next); store.set({ lang: next }); }}>${t("other-language")}</button>
      <button type="button" class="small" aria-label=${t(dark ? "theme-light" : "theme-dark")} onClick=${() => { localStorage.setItem("sim-theme", dark ? "light" : "dark"); store.set({ dark: !dark }); }}>${dark ? "☀" : "☾"}</button>
    </span>
  </header>`;
}

function Page() {
  const { state, lost, view, said } = useStore(store, (all) => all);
  dress();
  return html`<${Top} />
    ${lost && html`<p role="alert" class="notice bar">${t("lost")}</p>`}
    <nav class="views" aria-label=${t("views")}><div class="switch">
      ${["chat", "traffic", "errors"].map((one) => html`<button type="button" key=${one} aria-pressed=${String(view === one)}
        onClick=${() => store.set({ view: one })}>${t(one)}</button>`)}</div></nav>
    <main class="panes" data-view=${view}>${state && html`<${Chat} /><${Traffic} /><${Errors} />`}</main>
    <p class="sr" role="status">${said}</p>`;
}

dress();
render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
follow();

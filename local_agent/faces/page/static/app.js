// @ts-check
/** The page: what it knows, what it hears, where it is, and what surrounds each section. */
import {
  api, bare, follow, html, lang, newStore, render, session, speak, t, useEffect, useRef, useStore,
} from "/kit/kit.js";
import { AddPasskey } from "/passkeys.js";
import { Approvals, Tasks } from "/tasks.js";

/** @typedef {import("/views.js").StatusView} StatusView */
/** @typedef {import("/views.js").PageRow} Row */

const SECTIONS = ["tasks", "approvals", "playbooks", "files", "insights", "audit", "settings"];

export const store = newStore({
  /** @type {any} */
  boot: null,
  /** @type {"on" | "away" | "over"} */
  standing: "on",
  /** @type {"auto" | "light" | "dark"} */
  theme: "auto",
  lang: /** @type {"en" | "zh"} */ ("en"),
  /** @type {StatusView | null} */
  status: null,
  route: readRoute(),
  said: "",
});

/** @type {Set<(message: any) => void>} */
const hearers = new Set();

/**
 * Hear every message from the agent while the component is shown.
 * @param {(message: any) => void} hear
 * @param {unknown[]} on
 */
export function useMessages(hear, on = []) {
  useEffect(() => {
    hearers.add(hear);
    return () => { hearers.delete(hear); };
  }, on);
}

/** Say something to whoever cannot see it change. @param {string} said */
export const announce = (said) => store.set({ said });

/** @param {string} path */
export const go = (path) => { location.hash = path; };

function readRoute() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [section = "", ...rest] = path.split("/").map(decoded);
  return { section: SECTIONS.includes(section) || section === "passkey" ? section : "tasks", rest, query: new URLSearchParams(query) };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A section that is loaded when it is first looked at. @type {Record<string, () => Promise<any>>} */
const LATER = bare({
  files: () => import("/files.js").then((it) => it.Files),
  playbooks: () => import("/playbooks.js").then((it) => it.Playbooks),
  insights: () => import("/insights.js").then((it) => it.Insights),
  audit: () => import("/records.js").then((it) => it.Audit),
  settings: () => import("/records.js").then((it) => it.Settings),
});
/** @type {Record<string, any>} */
const loaded = bare({ tasks: Tasks, approvals: Approvals, passkey: AddPasskey });

function Section() {
  const { route, standing } = useStore(store, (state) => state);
  const shown = loaded[route.section];
  useEffect(() => {
    if (!shown && LATER[route.section]) {
      LATER[route.section]().then((it) => {
        loaded[route.section] = it;
        store.set({ route: { ...store.get().route } });
      }, () => {}); // once more when the agent is back
    }
  }, [route.section, standing]);
  if (shown) return html`<${shown} route=${route} />`;
  return html`<main id="content" class="empty" tabindex="-1">${t("loading")}</main>`;
}

function Header() {
  const { status, route, theme } = useStore(store, (state) => state);
  const gateway = status?.gateway.state;
  const stands = gateway === "connected" ? "good" : gateway === "unpaired" ? "quiet" : "danger";
  const said = gateway === "connected" || gateway === "unpaired" ? gateway : "away";
  const waiting = status?.approvals.length ?? 0;
  const next = lang() === "zh" ? "en" : "zh";
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // Where not all names have room, the one of what is shown is in sight.
    const here = nav.current?.querySelector("[aria-current]");
    here?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [route.section, lang()]);
  return html`<header class="top">
    <a class="brand" href="#/tasks"><img src="/icon.svg" alt="" width="22" height="22" />
      CodexBridge</a>
    <span class=${`gateway ${stands}`} title=${status?.gateway.url ?? ""}>
      <span aria-hidden="true">●</span> ${status?.machine} · ${t(`gateway-${said}`)}</span>
    <nav ref=${nav} aria-label=${t("sections")}><ul>${SECTIONS.map((name) => html`<li key=${name}>
      <a href=${`#/${name}`} aria-current=${route.section === name ? "page" : undefined}>
        ${t(name)}${name === "approvals" && waiting > 0
          && html` <span class="count">${waiting}</span>`}</a></li>`)}</ul></nav>
    <button class="small" lang=${next === "zh" ? "zh-CN" : "en"} onClick=${() => prefer({ lang: next })}>
      ${next === "zh" ? "中文" : "English"}</button>
    <button class="small" aria-label=${t("theme")} title=${t("theme")}
      onClick=${() => prefer({ theme: isDark(theme) ? "light" : "dark" })}>
      ${isDark(theme) ? "☀" : "☾"}</button>
  </header>`;
}

/** @param {{ lang?: string, theme?: "auto" | "light" | "dark" }} chosen */
export async function prefer(chosen) {
  await api.post("/api/preferences", chosen);
  heed(chosen); // all pages are told of it, but this one may not be listening yet
}

/** @param {{ lang?: string, theme?: "auto" | "light" | "dark" }} chosen */
function heed(chosen) {
  if (chosen.theme) store.set({ theme: chosen.theme });
  if (chosen.lang) learn().catch(() => {}); // the sentences in that language
  paint();
}

function App() {
  const { boot, standing, said } = useStore(store, (state) => state);
  if (!boot) {
    return html`<main class="empty">${standing === "over"
      ? html`<h1>CodexBridge</h1><p>codexbridge open</p>` : html`<h1>CodexBridge</h1><p>…</p>`}</main>`;
  }
  return html`<a class="skip" href="#content" onClick=${skip}>${t("skip")}</a>
    <${Header} />
    ${standing !== "on" && html`<p class="notice bar" role="status">
      ${t(standing === "over" ? "session-over" : "agent-away")}</p>`}
    <${Section} />
    <p class="sr" role="status" aria-live="polite">${said}</p>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

// -- colours --------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");

/** @param {string} theme */
const isDark = (theme) => (theme === "auto" ? dark.matches : theme === "dark");

function paint() {
  document.documentElement.dataset.theme = isDark(store.get().theme) ? "dark" : "light";
}

// -- the beginning --------------------------------------------------------------------------------

/** @type {ReturnType<typeof setTimeout> | undefined} */
let asking;

/** Ask how the agent is doing, soon: not put off by what comes meanwhile. */
export function refreshStatus() {
  asking ??= setTimeout(async () => {
    asking = undefined;
    try {
      store.set({ status: await api.get("/api/status") });
    } catch { /* what it cannot tell now is told when it is back */ }
  }, 150);
}

/** @param {any} message */
function hear(message) {
  if (message.type === "preferences") heed(message);
  if (message.type === "task" || message.anew || message.rows?.length) refreshStatus();
  for (const hearer of [...hearers]) hearer(message);
}

async function learn() {
  const boot = await api.get("/api/boot");
  speak(boot.words, boot.lang);
  store.set({ boot, lang: boot.lang });
  return boot;
}

async function begin() {
  paint();
  const boot = await learn();
  store.set({ theme: boot.theme, status: boot.status });
  paint();
  follow({
    path: "/api/live", life: boot.life, cursor: boot.cursor, hear, stand: (standing) => store.set({ standing }),
  });
}

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
session.over = () => store.set({ standing: "over" });
dark.addEventListener("change", paint);
window.addEventListener("hashchange", () => store.set({ route: readRoute() }));
setInterval(() => { if (document.visibilityState === "visible") refreshStatus(); }, 30_000);
render(html`<${App} />`, root);
begin().catch(() => store.set({ standing: "over" }));

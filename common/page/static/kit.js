// @ts-check
/**
 * What our local pages are made of: rendering, the two languages, asking the server, hearing from
 * it, and a few components.  Nothing here ever writes HTML: text becomes text nodes.
 */
import {
  Component, h, html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState,
} from "/kit/preact.js";

export {
  Component, h, html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState,
};

/** @typedef {"en" | "zh"} Lang */
/** @typedef {{ en: string, zh: string }} Text */
/** @typedef {{ code: string } & Text} Refusal */

// -- state that every part may look at ------------------------------------------------------------

/**
 * @template S
 * @param {S} initial
 */
export function newStore(initial) {
  let state = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    /** @param {Partial<S>} change */
    set(change) {
      state = { ...state, ...change };
      for (const listener of [...listeners]) listener();
    },
    /** @param {() => void} listener */
    listen(listener) {
      listeners.add(listener);
      return () => { listeners.delete(listener); };
    },
  };
}

/**
 * Render again whenever what is looked at has become another.
 * @template S, T
 * @param {{ get: () => S, listen: (listener: () => void) => () => void }} store
 * @param {(state: S) => T} look
 * @returns {T}
 */
export function useStore(store, look) {
  const [, again] = useState(0);
  const seen = useRef(/** @type {T | undefined} */ (undefined));
  seen.current = look(store.get());
  useEffect(() => {
    const check = () => {
      if (!Object.is(look(store.get()), seen.current)) again((/** @type {number} */ n) => n + 1);
    };
    check();
    return store.listen(check);
  }, [store]);
  return seen.current;
}

/**
 * The same with nothing inherited: names that others chose are keys, `constructor` among them.
 * @template {object} T @param {T} from @returns {T}
 */
export const bare = (from) => Object.assign(Object.create(null), from);

// -- two languages --------------------------------------------------------------------------------

/** @type {Record<string, string>} */
let words = {};
/** @type {Lang} */
let language = "en";
const FIELD = /{(\w+)(?::([^{}|]*)\|([^{}|]*))?}/g;

/**
 * @param {Record<string, string>} catalogue In that language.
 * @param {Lang} lang
 */
export function speak(catalogue, lang) {
  words = catalogue;
  language = lang;
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
}

export const lang = () => language;

/**
 * The sentence of a key with its facts; `{count:file|files}` is the first word where it is 1.
 * @param {string} key
 * @param {Record<string, string | number>} [facts]
 */
export function t(key, facts = {}) {
  const sentence = words[key];
  if (!sentence) return key;
  return sentence.replace(FIELD, (_all, name, one, many) => {
    const fact = String(facts[name] ?? "?");
    return one === undefined ? fact : fact === "1" ? one : many;
  });
}

/** @param {Text | null | undefined} text */
export const say = (text) => (text ? text[language] : "");

// -- asking the server ----------------------------------------------------------------------------

/** Why something was refused, in both languages. */
export class RefusedError extends Error {
  /** @param {Refusal} told @param {number} status */
  constructor(told, status) {
    super(told.code);
    this.told = told;
    this.status = status;
  }
}

/** @type {{ over: () => void }} */
export const session = { over: () => {} };

/**
 * @param {string} path
 * @param {object} [body] A request that asks for something has one.
 */
async function answered(path, body) {
  const headers = new Headers({ "X-CSRF-Token": localStorage.getItem("token") ?? "" });
  if (body) headers.set("Content-Type", "application/json");
  let answer;
  try {
    answer = await fetch(path, {
      method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body),
    });
  } catch {
    throw new RefusedError(refusal("failed"), 0);
  }
  if (answer.ok) return answer;
  if (answer.status === 403 && !answer.headers.get("Content-Type")?.includes("json")) {
    session.over();
    throw new RefusedError(refusal("session-over"), 403);
  }
  const told = await answer.json().catch(() => ({}));
  throw new RefusedError(told.error ?? refusal("failed"), answer.status);
}

/** What the page says itself. @param {string} key @returns {Refusal} */
export function refusal(key) {
  const said = words[key] ?? "";
  return { code: key, en: said, zh: said };
}

export const api = {
  /** @param {string} path */
  get: async (path) => (await answered(path)).json(),
  /** @param {string} path @param {object} [body] */
  post: async (path, body = {}) => (await answered(path, body)).json(),
  /** @param {string} path */
  text: async (path) => (await answered(path)).text(),
  /** @param {string} path */
  blob: async (path) => (await answered(path)).blob(),
};

/** @param {unknown} error */
export const whyOf = (error) => (error instanceof RefusedError ? say(error.told) : t("failed"));

/**
 * Stay connected for ever; after each loss go on from the cursor that is known.
 * @param {{
 *   path: string, life: string, cursor: number, hear: (message: any) => void, stand: (standing: "on" | "away" | "over") => void,
 * }} to
 */
export function follow({ path, life, cursor, hear, stand }) {
  let tries = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again;
  /** @type {WebSocket | undefined} */
  let socket;
  function connect() {
    clearTimeout(again);
    socket = new WebSocket(`ws://${location.host}${path}`);
    socket.onopen = () => {
      socket?.send(JSON.stringify({ token: localStorage.getItem("token") ?? "", life, cursor }));
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "hello") {
        tries = 0;
        life = message.life;
        stand("on");
      }
      if (message.cursor > cursor || message.type === "hello") cursor = message.cursor;
      hear(message);
    };
    socket.onclose = async ({ code }) => {
      if (code === 4003) return stand("over");
      stand("away");
      // Soon at first, then ever more rarely; and at once when the tab is looked at again.
      again = setTimeout(connect, Math.min(250 * 2 ** tries++, 10_000));
    };
  }
  const wake = () => {
    if (document.visibilityState === "visible" && socket?.readyState === WebSocket.CLOSED) connect();
  };
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  connect();
}

// -- moments and sizes ----------------------------------------------------------------------------

/** @param {number} ms */
export function duration(ms) {
  const s = Math.round(ms / 1000);
  if (ms < 50) return t("no-time");
  if (ms < 9_950) return t("seconds", { s: (Math.max(ms, 0) / 1000).toFixed(1) });
  if (s < 60) return t("seconds", { s });
  if (s < 3600) return `${t("minutes", { m: Math.floor(s / 60) })} ${t("seconds", { s: s % 60 })}`;
  return t("hours", { h: Math.floor(s / 3600), m: Math.floor((s % 3600) / 60) });
}

/** @param {number} until @param {number} now */
export function timeLeft(until, now) {
  const s = Math.floor((until - now) / 1000);
  if (s <= 0) return t("expired");
  const left = s >= 3600
    ? t("hours", { h: Math.floor(s / 3600), m: Math.floor((s % 3600) / 60) })
    : s >= 60 ? t("minutes", { m: Math.floor(s / 60) }) : t("seconds", { s });
  return t("left", { left });
}

/** @param {number} at */
export function moment(at) {
  const then = new Date(at), today = new Date();
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  return then.toDateString() === today.toDateString()
    ? then.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString(locale, { month: "short", day: "numeric" });
}

/** @param {number} at */
export function exactMoment(at) {
  const then = new Date(at), two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${
    [then.getHours(), then.getMinutes(), then.getSeconds()].map(two).join(":")}`;
}

/** @param {number} size */
export function bytes(size) {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}

/** The present, once a second while the tab is looked at. */
export function useNow() {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") set(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

// -- components -----------------------------------------------------------------------------------

const HIDDEN = /(⟨[^⟩]{1,40}⟩)/;

/**
 * Text as others wrote it, with what our escaper made visible set apart.
 * @param {{ text: string }} props
 */
export function Shown({ text }) {
  if (!text.includes("⟨")) return text;
  return text.split(HIDDEN).map((part, n) =>
    n % 2 ? html`<span class="hidden-char">${part}</span>` : part);
}

/**
 * A button that is at work until what it does is done, and tells why that failed.
 * @param {{
 *   act: () => Promise<unknown>, children?: any, class?: string, title?: string,
 *   disabled?: boolean,
 * }} props
 */
export function ActButton({ act, children, title, disabled, ...more }) {
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState("");
  const click = async () => {
    setBusy(true);
    setWhy("");
    try {
      await act();
    } catch (error) {
      setWhy(whyOf(error));
    }
    setBusy(false);
  };
  return html`<button type="button" class=${more.class} title=${title} onClick=${click}
      disabled=${busy || disabled}>${children}</button>
    ${why && html`<span role="alert" class="danger">${why}</span>`}`;
}

/**
 * Rows of one height, of which only those in sight exist.
 * @param {{
 *   count: number, height: number, row: (index: number) => any, label: string,
 *   onEnd?: () => void, keyOf: (index: number) => string, shown?: number,
 * }} props `shown` is brought into sight when it changes.
 */
export function VirtualList({ count, height, row, label, onEnd, keyOf, shown = -1 }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [seen, setSeen] = useState({ top: 0, room: 900 });
  const look = () => {
    const at = box.current;
    if (at) setSeen({ top: at.scrollTop, room: at.clientHeight });
  };
  useLayoutEffect(() => {
    look();
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  useEffect(() => {
    const at = box.current;
    if (!at || shown < 0) return;
    const top = shown * height;
    if (top < at.scrollTop) at.scrollTop = top;
    else if (top + height > at.scrollTop + at.clientHeight) {
      at.scrollTop = top + height - at.clientHeight;
    }
  }, [shown]);
  const first = Math.max(Math.floor(seen.top / height) - 4, 0);
  const last = Math.min(Math.ceil((seen.top + seen.room) / height) + 4, count);
  useEffect(() => { if (count && last >= count - 8) onEnd?.(); }, [last, count]);
  const rows = [];
  for (let n = first; n < last; n++) {
    rows.push(html`<div role="listitem" aria-setsize=${count} aria-posinset=${n + 1}
      class="virtual-row" key=${keyOf(n)}
      style=${{ top: `${n * height}px`, height: `${height}px` }}>${row(n)}</div>`);
  }
  return html`<div ref=${box} class="virtual" onScroll=${look}>
    <div role="list" aria-label=${label} style=${{ height: `${count * height}px` }}>${rows}</div>
  </div>`;
}

/**
 * Save text that was asked for as a file.
 * @param {string} name @param {string} text @param {string} type
 */
export function download(name, text, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

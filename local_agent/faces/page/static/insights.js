// @ts-check
/** Plots where people would rather look than read.  Every plot has its numbers in a table as well. */
import { api, duration, html, lang, t, useEffect, useState, whyOf } from "/kit/kit.js";

/** @typedef {import("/views.js").StatisticsView} Statistics */

/** From the ground up; each has a pattern of its own beside its colour. */
const OUTCOMES = /** @type {const} */ ([
  "completed", "open", "rejected", "cancelled", "expired", "refused", "drifted", "failed", "unknown",
]);
const HEIGHT = 220, LEFT = 40, BOTTOM = 22, TOP = 8;

/** The width that a plot has on this screen. */
function useWidth() {
  const [width, set] = useState(Math.min(window.innerWidth - 70, 1060));
  useEffect(() => {
    const look = () => set(Math.min(window.innerWidth - 70, 1060));
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  return width;
}

export function Insights() {
  const [days, setDays] = useState(30);
  const [told, setTold] = useState(/** @type {Statistics | null} */ (null));
  const [why, setWhy] = useState("");
  useEffect(() => {
    const offset = -new Date().getTimezoneOffset();
    api.get(`/api/statistics?days=${days}&offset=${offset}`).then(
      (found) => { setTold(found); setWhy(""); }, (error) => setWhy(whyOf(error)));
  }, [days]);
  return html`<main id="content" class="column" tabindex="-1">
    <div class="diff-head"><h1>${t("insights")}</h1>
      <span class="switch" role="group" aria-label=${t("period")}>${[7, 30, 90].map((n) => html`<button class="small"
        aria-pressed=${days === n} onClick=${() => setDays(n)}>${t("days", { count: n })}</button>`)}</span></div>
    ${why && html`<p role="alert" class="notice">${why}</p>`}
    ${told && html`<${Outcomes} told=${told} /><${States} told=${told} /><${Waits} told=${told} /><${Costs} told=${told} />`}
  </main>`;
}

/** @param {{ title: string, note?: string, children?: any, table: any }} props */
function Plot({ title, note, children, table }) {
  return html`<section class="card padded plot" aria-label=${title}><h2>${title}</h2>
    ${note && html`<p class="quiet">${note}</p>`}
    <figure>${children}</figure>
    <details><summary>${t("as-table")}</summary><div class="table" tabindex="0" role="region" aria-label=${title}>${table}</div></details></section>`;
}

/** Round numbers to mark on an axis, from 0 to at least the largest. @param {number} largest */
function marks(largest) {
  const rough = Math.max(largest, 1) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const whole = Math.max(step, largest > 4 || Number.isInteger(largest) ? 1 : step);
  return [...Array(Math.ceil(Math.max(largest, 1) / whole) + 1).keys()].map((n) => n * whole);
}

/**
 * Bars of stacked parts.
 * @param {{
 *   bars: { name: string, parts: { key: string, value: number }[] }[], label: string,
 *   every: number, tell?: (value: number) => string,
 * }} props
 */
function Bars({ bars, label, every, tell = String }) {
  const width = useWidth();
  const largest = Math.max(0, ...bars.map((bar) => bar.parts.reduce((all, part) => all + part.value, 0)));
  const axis = marks(largest), top = axis[axis.length - 1];
  const y = (/** @type {number} */ value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const wide = (width - LEFT) / bars.length;
  return html`<svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${label}>
    ${axis.map((value) => html`<g><line x1=${LEFT} x2=${width} y1=${y(value)} y2=${y(value)} class="grid" />
      <text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${tell(value)}</text></g>`)}
    ${bars.map((bar, n) => {
      let below = 0;
      return html`<g><title>${bar.name}: ${bar.parts.filter((part) => part.value).map((part) =>
          `${t(part.key)} ${tell(part.value)}`).join(", ") || "0"}</title>
        ${bar.parts.filter((part) => part.value).map((part) => {
          const from = y(below), to = y(below + part.value);
          below += part.value;
          return html`<rect x=${LEFT + n * wide + wide * 0.14} width=${wide * 0.72} y=${to}
            height=${Math.max(from - to, 1)} class=${`bar-${part.key}`} />`;
        })}
        ${n % Math.ceil(every * Math.max(560 / width, 1)) === 0 && html`<text x=${Math.min(LEFT + (n + 0.5) * wide, width - 17)} y=${HEIGHT - 6} text-anchor="middle">${bar.name}</text>`}</g>`;
    })}</svg>`;
}

/** @param {{ keys: readonly string[] }} props */
const Legend = ({ keys }) => html`<ul class="legend">${keys.map((key) => html`<li>
  <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" class=${`bar-${key}`} /></svg>
  ${" "}${t(key)}</li>`)}</ul>`;

/** @param {string} outcome */
const keyOf = (outcome) => (outcome === "open" ? "still-open" : `reason-${outcome}`);
/** @param {string} day */
const short = (day) => day.slice(5);

/** @param {{ told: Statistics }} props */
function Outcomes({ told }) {
  const used = OUTCOMES.filter((one) => told.outcomes.some((day) => day[one] > 0));
  const bars = told.outcomes.map((day) => ({
    name: short(day.day), parts: OUTCOMES.map((one) => ({ key: keyOf(one), value: day[one] })) }));
  return html`<${Plot} title=${t("plot-outcomes")} table=${html`<table><thead><tr><th>${t("day")}</th>${OUTCOMES.map((one) =>
      html`<th>${t(keyOf(one))}</th>`)}</tr></thead><tbody>${told.outcomes.map((day) => html`<tr><td>${day.day}</td>${OUTCOMES.map((one) =>
        html`<td>${day[one]}</td>`)}</tr>`)}</tbody></table>`}>
    <${Bars} bars=${bars} label=${t("plot-outcomes")} every=${Math.ceil(bars.length / 8)} />
    <${Legend} keys=${used.map(keyOf)} /></${Plot}>`;
}

/** @param {{ told: Statistics }} props */
function States({ told }) {
  const width = useWidth();
  const rows = told.states.filter((state) => state.count > 0);
  const largest = Math.max(1, ...rows.map((row) => row.p90_ms ?? 0));
  // From a tenth of a second to days: only a logarithm shows both.
  const narrow = width < 560, left = narrow ? 0 : 140, top = narrow ? 20 : 0, each = 34 + top;
  const room = width - left - 150; // beside the longest bar stand both numbers
  const x = (/** @type {number} */ ms) => (Math.log10(Math.max(ms, 100)) - 2) / Math.max(Math.log10(largest) - 2, 1) * room;
  const height = rows.length * each + 4;
  return html`<${Plot} title=${t("plot-states")} note=${t("plot-states-how")}
    table=${html`<table><thead><tr><th>${t("state")}</th><th>${t("median")}</th><th>${t("nine-of-ten")}</th><th>${t("count")}</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr><td>${t(`state-${row.state}`)}</td><td>${duration(row.median_ms ?? 0)}</td>
        <td>${duration(row.p90_ms ?? 0)}</td><td>${row.count}</td></tr>`)}</tbody></table>`}>
    ${!rows.length ? html`<p class="empty">${t("nothing-yet")}</p>`
      : html`<svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${t("plot-states")}>
      ${rows.map((row, n) => {
        const y = n * each + top, name = t(`state-${row.state}`);
        return html`<g>${narrow ? html`<text x="0" y=${y}>${name}</text>`
            : html`<text x="132" y=${y + 20} text-anchor="end">${name}</text>`}
          <rect x=${left} y=${y + 6} height="18" rx="3" width=${Math.max(x(row.p90_ms ?? 0), 2)} class="bar-p90" />
          <rect x=${left} y=${y + 6} height="18" rx="3" width=${Math.max(x(row.median_ms ?? 0), 2)} class="bar-median" />
          <text x=${left + 6 + x(row.p90_ms ?? 0)} y=${y + 20}>${duration(row.median_ms ?? 0)} · ${duration(row.p90_ms ?? 0)}</text></g>`;
      })}</svg>
      <${Legend} keys=${["median", "p90"]} />`}</${Plot}>`;
}

/** @param {{ told: Statistics }} props */
function Waits({ told }) {
  const { bounds_s, approved, rejected, expired } = told.approvals;
  const names = [...bounds_s.map((s) => `≤ ${compact(s)}`), `> ${compact(bounds_s[bounds_s.length - 1])}`];
  const kinds = { approved, rejected, expired };
  const bars = names.map((name, n) => ({ name, parts: Object.entries(kinds).map(([key, one]) => ({ key: `wait-${key}`, value: one.counts[n] })) }));
  return html`<${Plot} title=${t("plot-waits")} note=${approved.median_ms !== null ? t("waits-median", { time: duration(approved.median_ms) }) : ""}
    table=${html`<table><thead><tr><th>${t("waited")}</th>${Object.keys(kinds).map((key) => html`<th>${t(`wait-${key}`)}</th>`)}</tr></thead>
      <tbody>${bars.map((bar) => html`<tr><td>${bar.name}</td>${bar.parts.map((part) => html`<td>${part.value}</td>`)}</tr>`)}</tbody></table>`}>
    <${Bars} bars=${bars} label=${t("plot-waits")} every=${1} />
    <${Legend} keys=${Object.keys(kinds).map((key) => `wait-${key}`)} /></${Plot}>`;
}

/** @param {number} s */
function compact(s) {
  const [unit, size] = s < 60 ? ["second", 1] : s < 3600 ? ["minute", 60] : s < 86_400 ? ["hour", 3600] : ["day", 86_400];
  return new Intl.NumberFormat(lang(), { style: "unit", unit: String(unit) }).format(s / Number(size));
}

/** @param {{ told: Statistics }} props */
function Costs({ told }) {
  const currency = told.models.find((one) => one.used.cost !== null)?.used.currency;
  const value = (/** @type {Statistics["models"][number]} */ one) => (currency
    ? (one.used.currency === currency ? one.used.cost ?? 0 : 0) : one.used.input_tokens + one.used.output_tokens);
  const names = [...new Set(told.models.map((one) => one.model))];
  const bars = told.days.map((day) => ({ name: short(day), parts: names.map((name, n) => ({
    key: `model-${n % 6}`, value: told.models.filter((one) => one.day === day && one.model === name).reduce((all, one) => all + value(one), 0) })) }));
  const tell = (/** @type {number} */ n) => (currency ? n.toFixed(n < 1 ? 2 : 0) : n >= 1e6 ? `${n / 1e6} M` : n >= 1000 ? `${n / 1000} k` : String(n));
  return html`<${Plot} title=${currency ? t("plot-cost", { currency }) : t("plot-tokens")}
    note=${currency ? "" : t("plot-tokens-how")}
    table=${html`<table><thead><tr><th>${t("day")}</th><th>${t("model")}</th><th>${t("turns")}</th><th>${t("tokens-read")}</th>
      <th>${t("tokens-written")}</th><th>${t("cost")}</th></tr></thead><tbody>${told.models.map((one) => html`<tr><td>${one.day}</td><td>${one.model}</td>
        <td>${one.used.turns}</td><td>${one.used.input_tokens}</td><td>${one.used.output_tokens}</td>
        <td>${one.used.cost === null ? "—" : `${one.used.cost} ${one.used.currency}`}</td></tr>`)}</tbody></table>`}>
    ${!names.length ? html`<p class="empty">${t("nothing-yet")}</p>`
      : html`<${Bars} bars=${bars} label=${t("model")} every=${Math.ceil(bars.length / 8)} tell=${tell} />
      <ul class="legend">${names.map((name, n) => html`<li><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        <rect width="12" height="12" rx="2" class=${`bar-model-${n % 6}`} /></svg> ${name}</li>`)}</ul>`}</${Plot}>`;
}

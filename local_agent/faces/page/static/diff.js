// @ts-check
/** Diffs: old beside new or one below the other, every line as the agent made it visible. */
import { Component, Shown, api, bare, html, t, say, useEffect, useRef, useState, whyOf } from "/kit/kit.js";

/** @typedef {[number, string, [number, number][], number]} Side number, text, marks, cut */
/** @typedef {{ kind: string, old?: Side, new?: Side, section?: string, first?: number[] }} Row */
/** @typedef {import("/views.js").PageFile} File */

const OPENS_BELOW = 400; // rows of a file
const OPENS_IN_ALL = 2000; // rows that open by themselves
const LOOK_MS = 150; // between two looks at whether an end is still covered
const BLOCK = 80; // rows that are laid out together once they come into sight
const NARROW = matchMedia("(max-width: 860px)");

/**
 * All files of a change.
 * @param {{
 *   task: string, files: File[], version: string, saw?: (ends: number[]) => void,
 *   choice?: Choice, choose?: (choice: Choice) => void,
 * }} props `version` changes when the files do; `saw` hears whose last row was on the screen.
 * @typedef {Record<string, true | number[]>} Choice What is kept: all of a file, or some hunks.
 */
export function Diff({ task, files, version, saw, choice, choose }) {
  const [side, setSide] = useState(
    !NARROW.matches && localStorage.getItem("diff") !== "unified");
  const set = (/** @type {boolean} */ beside) => {
    localStorage.setItem("diff", beside ? "beside" : "unified");
    setSide(beside);
  };
  const added = sum(files, "added"), removed = sum(files, "removed");
  let opened = 0;
  const ends = useRef(/** @type {Set<number>} */ (new Set())); // of the files that are laid out whole
  // The end of the last one is the end of all, facts included, where nothing is left out before it.
  const sawEnd = saw && ((/** @type {number} */ index) => saw(
    index === files.length - 1 && ends.current.size === files.length ? [-1, ...ends.current] : [index]));
  return html`<section class="diff" aria-label=${t("files-of-change")}>
    <div class="diff-head">
      <strong>${t("files-count", { count: files.length })}</strong>
      <span class="good">+${added}</span> <span class="danger">−${removed}</span>
      <span class="switch" role="group" aria-label=${t("layout")}>
        <button class="small" aria-pressed=${side} onClick=${() => set(true)}>${t("side-by-side")}</button>
        <button class="small" aria-pressed=${!side} onClick=${() => set(false)}>${t("unified")}</button>
      </span>
    </div>
    ${files.length > 1 && html`<${FileTree} files=${files} task=${task} />`}
    ${files.map((file, index) => {
      const opens = file.rows <= OPENS_BELOW && opened + file.rows <= OPENS_IN_ALL;
      if (opens) opened += file.rows;
      return html`<${FileDiff} key=${`${version} ${file.path}`} task=${task} file=${file}
        index=${index} beside=${side} opens=${opens} choice=${choice} choose=${choose}
        ends=${ends.current} saw=${sawEnd} />`;
    })}
  </section>`;
}

/** @param {File[]} files @param {"added" | "removed"} what */
const sum = (files, what) => files.reduce((all, file) => all + file[what], 0);

/** @param {string} task @param {number} index */
const anchor = (task, index) => `file-${task}-${index}`;

/** @param {{ files: File[], task: string }} props */
function FileTree({ files, task }) {
  /** @type {Map<string, [File, number][]>} */
  const folders = new Map();
  files.forEach((file, index) => {
    const cut = file.path.lastIndexOf("/") + 1;
    const folder = file.path.slice(0, cut);
    folders.set(folder, [...(folders.get(folder) ?? []), [file, index]]);
  });
  const jump = (/** @type {Event} */ event, /** @type {number} */ index) => {
    event.preventDefault();
    const at = document.getElementById(anchor(task, index));
    at?.scrollIntoView({ block: "start" });
    at?.focus();
  };
  return html`<details class="tree" open=${files.length <= 30}>
    <summary>${t("files-of-change")}</summary>
    <ul>${[...folders].map(([folder, inside]) => html`<li key=${folder}>
      ${folder && html`<span class="mono quiet"><${Shown} text=${folder} /></span>`}
      <ul>${inside.map(([file, index]) => html`<li key=${index}>
        <a href="#content" class="mono" onClick=${(/** @type {Event} */ e) => jump(e, index)}>
          <${Shown} text=${file.path.slice(folder.length)} /></a>
        ${" "}<span class="chip">${t(`op-${file.op}`)}</span>
        ${" "}<span class="good">+${file.added}</span> <span class="danger">−${file.removed}</span>
        ${" "}${file.marks.length > 0 && html`<span class="pill warn">!</span>`}
      </li>`)}</ul></li>`)}</ul>
  </details>`;
}

/**
 * @param {{
 *   task: string, file: File, index: number, beside: boolean, opens: boolean,
 *   choice?: Choice, choose?: (choice: Choice) => void,
 *   ends: Set<number>, saw?: (index: number) => void,
 * }} props
 */
function FileDiff({ task, file, index, beside, opens, choice, choose, ends, saw }) {
  const [open, setOpen] = useState(opens);
  const [rows, setRows] = useState(/** @type {Row[]} */ ([]));
  const [more, setMore] = useState(0);
  const [why, setWhy] = useState("");
  const load = async () => {
    try {
      const told = await api.get(`/api/tasks/${task}/rows?file=${index}&first=${rows.length}`);
      setRows([...rows, ...told.rows]);
      setMore(told.more);
    } catch (error) {
      setWhy(whyOf(error));
    }
  };
  useEffect(() => { if (open && file.is_text && !rows.length && file.rows) load(); }, [open]);
  const kept = choice?.[file.path];
  const cut = rows.some((row) => row.old?.[3] || row.new?.[3]);
  const whole = !file.is_text || !file.rows || (open && rows.length > 0 && !more && !cut);
  const keepFile = (/** @type {Event} */ event) => {
    const next = bare({ ...choice });
    if (/** @type {HTMLInputElement} */ (event.target).checked) next[file.path] = true;
    else delete next[file.path];
    choose?.(next);
  };
  const name = file.old_path ? `${file.old_path} → ${file.path}` : file.path;
  return html`<article class="file" id=${anchor(task, index)} tabindex="-1" aria-label=${file.path}>
    <header>
      ${choose && html`<label class="keep"><input type="checkbox" checked=${Boolean(kept)}
        indeterminate=${Array.isArray(kept)} onChange=${keepFile} /><span class="sr">${t("keep-file", { path: file.path })}</span></label>`}
      <span class="mono path"><${Shown} text=${name} /></span>
      <span class="chip">${t(`op-${file.op}`)}</span>
      ${file.is_text && html`<span class="good">+${file.added}</span>
        <span class="danger">−${file.removed}</span>`}
      ${file.is_text && file.rows > 0 && html`<button class="small" aria-expanded=${open}
        onClick=${() => setOpen(!open)}>
        ${open ? t("hide-file") : t("show-file", { count: file.rows })}</button>`}
    </header>
    ${(file.notes.length > 0 || file.marks.length > 0) && html`<ul class="notes">
      ${file.notes.map((note) => html`<li>${say(note)}</li>`)}
      ${file.marks.map((mark) => html`<li class="warning">${t("look-at")}:
        ${" "}${t("line", { line: mark.line })} – ${say(mark.what)}</li>`)}</ul>`}
    ${why && html`<p role="alert" class="danger">${why}</p>`}
    ${open && rows.length > 0 && html`<${Rows} rows=${rows} beside=${beside}
      choosing=${choose && file.op === "modify" && file.hunks > 1 ? kept ?? [] : undefined}
      choose=${(/** @type {true | number[]} */ hunks) => {
        const next = bare({ ...choice, [file.path]: hunks });
        if (hunks !== true && !hunks.length) delete next[file.path];
        choose?.(next);
      }} hunks=${file.hunks} label=${file.path} />`}
    ${open && more > 0 && html`<button class="more" onClick=${load}>
      ${t("more-lines", { count: more })}</button>`}
    ${saw && cut && html`<p class="notes warning">${t("cut-lines")}</p>`}
    ${saw && whole && html`<${End} ends=${ends} index=${index} saw=${() => saw(index)} />`}
  </article>`;
}

/**
 * The end of what is to be read.  It says once that it was seen: in sight, and covered by nothing.
 * @param {{ saw: () => void, ends?: Set<number>, index?: number }} props
 */
export function End({ saw, ends, index = -1 }) {
  const at = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const end = at.current;
    if (!end) return undefined;
    ends?.add(index);
    /** @type {ReturnType<typeof setInterval> | undefined} */
    let timer;
    const look = () => {
      const { left, top, width, height } = end.getBoundingClientRect();
      if (document.elementFromPoint(left + width / 2, top + height / 2) !== end) return;
      clearInterval(timer);
      observer.disconnect();
      saw();
    };
    const observer = new IntersectionObserver(([entry]) => {
      clearInterval(timer);
      if (entry.isIntersecting) timer = setInterval(look, LOOK_MS);
    });
    observer.observe(end);
    return () => {
      ends?.delete(index);
      clearInterval(timer);
      observer.disconnect();
    };
  }, []);
  return html`<div class="end" ref=${at}></div>`;
}

/**
 * @param {{
 *   rows: Row[], beside: boolean, choosing?: true | number[], hunks: number,
 *   choose: (hunks: true | number[]) => void, label: string,
 * }} props
 */
function Rows({ rows, beside, choosing, choose, hunks, label }) {
  const blocks = [];
  let hunk = -1;
  /** @type {Row[]} */
  let block = [];
  const flush = () => {
    if (block.length) blocks.push(html`<${Block} key=${blocks.length} rows=${block} beside=${beside} />`);
    block = [];
  };
  for (const row of rows) {
    if (row.kind === "hunk") {
      flush();
      blocks.push(html`<${Hunk} key=${blocks.length} row=${row} index=${++hunk} choosing=${choosing}
        choose=${choose} hunks=${hunks} />`);
      continue;
    }
    block.push(row);
    // Old and new lines of one change stay together where they stand one below the other.
    if (block.length >= BLOCK && (row.kind !== "change" || block.length >= 4 * BLOCK)) flush();
  }
  flush();
  return html`<div class=${beside ? "rows beside" : "rows unified"} tabindex="0" role="region"
    aria-label=${label}>${blocks}</div>`;
}

/** @param {any} props */
function Hunk({ row, index, choosing, choose, hunks }) {
  const kept = choosing === true || choosing?.includes(index);
  const toggle = () => {
    const all = [...Array(hunks).keys()];
    const before = choosing === true ? all : choosing;
    const after = kept
      ? before.filter((/** @type {number} */ n) => n !== index)
      : [...before, index].sort((a, b) => a - b);
    choose(after.length === hunks ? true : after);
  };
  return html`<div class="hunk">${choosing !== undefined && html`<label class="keep">
      <input type="checkbox" checked=${kept} onChange=${toggle} /> ${t("keep-hunk")}</label>`}
    <span>@@ −${row.first[0]} +${row.first[1]} @@ <${Shown} text=${row.section ?? ""} /></span></div>`;
}

/** Some rows, drawn once: nothing in them changes but their layout. */
class Block extends Component {
  /** @param {any} next */
  shouldComponentUpdate(next) {
    return next.beside !== this.props.beside || next.rows.length !== this.props.rows.length;
  }

  /** @param {any} props */
  render({ rows, beside }) {
    const style = { containIntrinsicHeight: `auto ${rows.length * 20}px` };
    return html`<div class="block" style=${style}>${beside ? rows.map(besideRow) : unifiedRows(rows)}</div>`;
  }
}

/** @param {Row} row */
function besideRow(row) {
  if (row.kind === "open") return html`<div class="row open"><i /><span>${t("open-end")}</span><i /><span /></div>`;
  const changed = row.kind === "change";
  return html`<div class="row">
    ${half(row.old, changed ? "removed" : "")}${half(row.new, changed ? "added" : "")}</div>`;
}

/** @param {Side | undefined} side @param {string} kind */
function half(side, kind) {
  if (!side) return html`<i class="none"></i><span class="none"></span>`;
  return html`<i class=${kind}>${side[0]}</i><span class=${kind}>${spoken(kind)}${line(side, kind)}</span>`;
}

/** @param {Row[]} rows */
function unifiedRows(rows) {
  const out = [];
  for (let n = 0; n < rows.length;) {
    const row = rows[n];
    if (row.kind !== "change") {
      out.push(row.kind === "open"
        ? html`<div class="row open"><i /><i /><b /><span>${t("open-end")}</span></div>`
        : html`<div class="row"><i>${row.old?.[0]}</i><i>${row.new?.[0]}</i><b></b>
          <span>${row.new && line(row.new, "")}</span></div>`);
      n++;
      continue;
    }
    const from = n;
    while (n < rows.length && rows[n].kind === "change") n++;
    const run = rows.slice(from, n);
    for (const { old } of run) {
      if (old) out.push(html`<div class="row removed"><i>${old[0]}</i><i></i><b aria-hidden="true">−</b>
        <span>${spoken("removed")}${line(old, "removed")}</span></div>`);
    }
    for (const { new: fresh } of run) {
      if (fresh) out.push(html`<div class="row added"><i></i><i>${fresh[0]}</i><b aria-hidden="true">+</b>
        <span>${spoken("added")}${line(fresh, "added")}</span></div>`);
    }
  }
  return out;
}

/** @param {string} kind */
const spoken = (kind) => (kind ? html`<span class="sr">${t(`${kind}-line`)}: </span>` : null);

/** @param {Side} side @param {string} kind */
function line([, text, marks, cut], kind) {
  const points = marks.length ? [...text] : [];
  const parts = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) parts.push(Shown({ text: points.slice(at, from).join("") }));
    parts.push(html`<mark class=${kind}>${Shown({ text: points.slice(from, to).join("") })}</mark>`);
    at = to;
  }
  parts.push(Shown({ text: marks.length ? points.slice(at).join("") : text }));
  if (cut) parts.push(html`<em class="quiet">${t("more-chars", { count: cut })}</em>`);
  return parts;
}

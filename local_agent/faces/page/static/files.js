// @ts-check
/** Files of a workspace: a tree that is read as it is opened, and what is in one file. */
import { Shown, api, bytes, html, t, useEffect, useRef, useState, useStore, whyOf } from "/kit/kit.js";
import { store } from "/app.js";

/** @typedef {import("/views.js").FolderView} FolderView */
/** @typedef {import("/views.js").FolderEntry} Entry */
/** @typedef {import("/views.js").FileView} FileView */

/** @param {string} workspace @param {string} path */
const link = (workspace, path) =>
  `#/files/${encodeURIComponent(workspace)}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** @param {{ route: any }} props */
export function Files({ route }) {
  const status = useStore(store, (state) => state.status);
  const places = status?.workspaces ?? [];
  const usual = places.find((place) => place.default) ?? places[0];
  const [named, ...parts] = route.rest;
  const workspace = named || usual?.name || "";
  const path = parts.filter(Boolean).join("/");
  if (!workspace) {
    return html`<main id="content" class="column" tabindex="-1"><h1>${t("files")}</h1>
      <p class="empty">${t("no-workspace")}</p></main>`;
  }
  return html`<div class=${path ? "files has-file" : "files"}>
    <aside class="card tree-pane" aria-label=${t("files")}>
      ${places.length > 1 ? html`<select aria-label=${t("workspace")} value=${workspace}
        onChange=${(/** @type {any} */ event) => { location.hash = link(event.target.value, ""); }}>
        ${places.map((place) => html`<option value=${place.name}>${place.name}</option>`)}</select>`
        : html`<strong>${workspace}</strong>`}
      <${Folder} key=${workspace} workspace=${workspace} path="" shown=${path} />
    </aside>
    <main id="content" class="column" tabindex="-1">
      <${Crumbs} workspace=${workspace} path=${path} />
      ${path ? html`<${File} key=${`${workspace}/${path}`} workspace=${workspace} path=${path}
          line=${Number(route.query.get("line")) || 0} />`
        : html`<h1 class="sr">${t("files")}</h1><p class="empty">${t("choose-file")}</p>`}
    </main>
  </div>`;
}

/** @param {{ workspace: string, path: string }} props */
function Crumbs({ workspace, path }) {
  const parts = path ? path.split("/") : [];
  return html`<nav aria-label=${t("path")}><ol class="crumbs">
    <li><a href=${link(workspace, "")}>${workspace}</a></li>
    ${parts.map((part, n) => html`<li key=${n} aria-current=${n === parts.length - 1 ? "page" : undefined}>
      ${n === parts.length - 1 ? html`<h1 class="mono"><${Shown} text=${part} /></h1>`
        : html`<span class="mono"><${Shown} text=${part} /></span>`}</li>`)}
  </ol></nav>`;
}

/** @param {{ workspace: string, path: string, shown: string }} props */
function Folder({ workspace, path, shown }) {
  const [entries, setEntries] = useState(/** @type {readonly Entry[]} */ ([]));
  const [last, setLast] = useState(/** @type {FolderView | null} */ (null));
  const [why, setWhy] = useState("");
  const load = async () => {
    try {
      const query = new URLSearchParams({ workspace, path, after: last?.after ?? "" });
      /** @type {FolderView} */
      const told = await api.get(`/api/folder?${query}`);
      setEntries([...entries, ...told.entries]);
      setLast(told);
    } catch (error) {
      setWhy(whyOf(error));
    }
  };
  useEffect(() => { load(); }, [workspace, path]);
  return html`<ul class="folder">
    ${entries.map((entry) => html`<${Item} key=${entry.name} entry=${entry} workspace=${workspace}
      path=${path ? `${path}/${entry.name}` : entry.name} shown=${shown} />`)}
    ${last?.more && html`<li><button class="link" onClick=${load}>${t("more")}</button></li>`}
    ${last && !last.complete && html`<li class="quiet">${t("folder-cut")}</li>`}
    ${last && !entries.length && html`<li class="quiet">${t("folder-empty")}</li>`}
    ${why && html`<li role="alert" class="danger">${why}</li>`}
  </ul>`;
}

/** @param {{ entry: Entry, workspace: string, path: string, shown: string }} props */
function Item({ entry, workspace, path, shown }) {
  const within = shown === path || shown.startsWith(`${path}/`);
  const [open, setOpen] = useState(entry.kind === "folder" && within);
  useEffect(() => { if (within && entry.kind === "folder") setOpen(true); }, [within]);
  const name = html`<${Shown} text=${entry.name} />`;
  if (entry.refused || entry.kind === "link" || entry.kind === "other") {
    const why = entry.refused ? t(`refused-${entry.refused}`) : t(`kind-of-${entry.kind}`);
    return html`<li class="quiet" title=${why}><span class="mono">${name}</span> <small>${why}</small></li>`;
  }
  if (entry.kind === "folder") {
    return html`<li><button class="plain mono" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        <span aria-hidden="true">${open ? "▾" : "▸"}</span> ${name}/</button>
      ${open && html`<${Folder} workspace=${workspace} path=${path} shown=${shown} />`}</li>`;
  }
  return html`<li><a class="mono" href=${link(workspace, path)} aria-current=${shown === path || undefined}
    title=${bytes(entry.size ?? 0)}>${name}</a></li>`;
}

/** @param {{ workspace: string, path: string, line: number }} props */
function File({ workspace, path, line }) {
  const [view, setView] = useState(/** @type {FileView | null} */ (null));
  const [lines, setLines] = useState(/** @type {FileView["lines"]} */ ([]));
  const [why, setWhy] = useState("");
  const load = async (/** @type {number} */ first) => {
    try {
      /** @type {FileView} */
      const told = await api.get(`/api/file?${new URLSearchParams({ workspace, path, first: String(first) })}`);
      setLines(first === 1 || !view ? told.lines : [...lines, ...told.lines]);
      setView(told);
    } catch (error) {
      setWhy(whyOf(error));
    }
  };
  useEffect(() => { load(Math.max(line - 200, 1)); }, []);
  if (why) return html`<p role="alert" class="notice">${why}</p>`;
  if (!view) return html`<p class="empty">${t("loading")}</p>`;
  return html`<p class="quiet">${bytes(view.size)}
      ${view.line_count !== null && view.kind === "text" && html` · ${t("lines", { count: view.line_count })}`}
      ${!view.utf8 && html` · ${t("not-utf8")}`}${view.line_ends === "crlf" && " · CRLF"}
      ${view.line_ends === "mixed" && html` · ${t("mixed-ends")}`}</p>
    ${view.kind === "text" && html`<${Text} lines=${lines} line=${line} />
      ${view.next_line && html`<button onClick=${() => load(view.next_line ?? 1)}>${t("more")}</button>`}
      ${view.stopped && html`<p class="quiet">${t("file-stopped")}</p>`}`}
    ${view.kind === "image" && html`<${Picture} workspace=${workspace} path=${path} />`}
    ${view.kind === "binary" && html`<p class="quiet">${t("binary-file")}</p>
      <pre class="output" tabindex="0" aria-label=${t("binary-file")}>${view.dump.map((row) =>
        `${row.offset.toString(16).padStart(8, "0")}  ${row.hex.padEnd(48)} ${row.text}\n`)}</pre>`}`;
}

/** @param {{ lines: FileView["lines"], line: number }} props */
function Text({ lines, line }) {
  const marked = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { marked.current?.scrollIntoView({ block: "center" }); }, [line]);
  /** @type {FileView["lines"][]} */
  const blocks = [];
  for (let n = 0; n < lines.length; n += 100) blocks.push(lines.slice(n, n + 100));
  return html`<div class="card rows text" tabindex="0" role="region" aria-label=${t("file-text")}>
    ${blocks.map((block, n) => html`<div class="block" key=${n}
      style=${{ containIntrinsicHeight: `auto ${block.length * 20}px` }}>${block.map((one) =>
        html`<div class=${one.number === line ? "row marked" : "row"}
          ref=${one.number === line ? marked : undefined}><i>${one.number}</i>
          <span>${Shown({ text: one.text })}${one.left > 0
            && html`<em class="quiet">${t("more-chars", { count: one.left })}</em>`}</span></div>`)}</div>`)}
  </div>`;
}

/** @param {{ workspace: string, path: string }} props */
function Picture({ workspace, path }) {
  const [url, setUrl] = useState("");
  const [why, setWhy] = useState("");
  useEffect(() => {
    let made = "";
    api.blob(`/api/image?${new URLSearchParams({ workspace, path })}`).then((blob) => {
      made = URL.createObjectURL(blob);
      setUrl(made);
    }, (error) => setWhy(whyOf(error)));
    return () => { if (made) URL.revokeObjectURL(made); };
  }, []);
  if (why) return html`<p role="alert" class="danger">${why}</p>`;
  return url ? html`<img class="picture" src=${url} alt=${path} />` : html`<p>${t("loading")}</p>`;
}

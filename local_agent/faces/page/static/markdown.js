// @ts-check
/**
 * Markdown as elements, from its tokens and never through HTML: what a model writes as HTML is
 * shown as the text it is, a picture as its words, and a link with the host that it leads to.
 */
import { Component, Shown, html, useEffect, useMemo, useState } from "/kit/kit.js";

const MAX_CHARS = 200_000;
const MAX_READ = 20_000; // of these; there are texts that take the reader time by their square
const SCHEMES = /^https?:\/\//i;

/** Loaded once the first text is shown: it is a quarter of all that the page is made of. */
/** @type {typeof import("/kit/marked.js") | null} */
let marked = null;

/** Text that cannot be read, such as a thousand quotations in one another, is shown as it is. */
export class Markdown extends Component {
  static getDerivedStateFromError() {
    return { failed: true };
  }

  /** @param {{ text: string }} props @param {{ failed?: boolean }} state */
  render({ text }, { failed }) {
    const begin = text.slice(0, MAX_READ), rest = text.slice(MAX_READ, MAX_CHARS);
    return html`<div class="markdown">
      ${failed ? html`<p>${plain(begin)}</p>` : html`<${Read} text=${begin} />`}
      ${rest && html`<p>${plain(rest)}</p>`}</div>`;
  }
}

/** @param {{ text: string }} props */
function Read({ text }) {
  const [reader, setReader] = useState(marked);
  useEffect(() => {
    if (!marked) import("/kit/marked.js").then((it) => setReader(marked = it), () => {});
    else if (!reader) setReader(marked);
  }, []);
  return useMemo(() => (reader
    ? blocks(reader.lexer(text, { gfm: true })) : html`<p>${plain(text)}</p>`), [reader, text]);
}

/** @param {any[]} tokens @returns {any} */
const blocks = (tokens) => tokens.map(block);

/** @param {any} token @returns {any} */
function block(token) {
  switch (token.type) {
    case "heading":
      return html`<p class="heading" role="heading" aria-level=${Math.min(token.depth + 2, 6)}>
        ${inline(token.tokens)}</p>`;
    case "paragraph": return html`<p>${inline(token.tokens)}</p>`;
    case "text": return html`<span>${token.tokens ? inline(token.tokens) : plain(token.text)}</span>`;
    case "code": return html`<pre tabindex="0"><code>${plain(token.text)}</code></pre>`;
    case "blockquote": return html`<blockquote>${blocks(token.tokens)}</blockquote>`;
    case "hr": return html`<hr />`;
    case "list": {
      const items = token.items.map((/** @type {any} */ item) => html`<li>${item.task
        && html`<span>${item.checked ? "☑" : "☐"} </span>`}${blocks(item.tokens)}</li>`);
      return token.ordered
        ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case "table":
      return html`<div class="table" tabindex="0"><table><thead><tr>${token.header.map(cell("th"))}
        </tr></thead><tbody>${token.rows.map((/** @type {any} */ row) =>
          html`<tr>${row.map(cell("td"))}</tr>`)}</tbody></table></div>`;
    case "space": case "def": return null;
    default: return html`<p>${plain(token.raw)}</p>`;
  }
}

/** @param {string} tag @returns {(one: any) => any} */
const cell = (tag) => (one) => html`<${tag}>${inline(one.tokens)}</${tag}>`;

/** @param {any[]} tokens @returns {any} */
function inline(tokens) {
  return tokens.map((token) => {
    switch (token.type) {
      case "strong": return html`<strong>${inline(token.tokens)}</strong>`;
      case "em": return html`<em>${inline(token.tokens)}</em>`;
      case "del": return html`<del>${inline(token.tokens)}</del>`;
      case "codespan": return html`<code>${plain(token.text)}</code>`;
      case "br": return html`<br />`;
      case "link": return link(token);
      case "image": return html`<span>[${plain(token.text)}]</span>`;
      case "text": return token.tokens ? inline(token.tokens) : plain(token.text);
      case "escape": return plain(token.text);
      case "checkbox": return token.checked ? "☑ " : "☐ ";
      default: return plain(token.raw);
    }
  });
}

/** @param {any} token */
function link(token) {
  if (!SCHEMES.test(token.href)) return html`<span>${inline(token.tokens)} (${plain(token.href)})</span>`;
  let host = "";
  try {
    host = new URL(token.href).host;
  } catch {
    return html`<span>${inline(token.tokens)} (${plain(token.href)})</span>`;
  }
  return html`<a href=${token.href} target="_blank" rel="noopener noreferrer">${inline(token.tokens)}</a>
    <span class="quiet"> (${host})</span>`;
}

/** @param {string} text */
const plain = (text) => html`<${Shown} text=${unescaped(text)} />`;

/** The lexer writes these five as entities; they are only text here. @param {string} text */
function unescaped(text) {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name) =>
    ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[/** @type {"amp"} */ (name)]);
}

// @ts-check
/** A template card as members see it, with what can be clicked on it. */
import { html, t, useState } from "/kit/kit.js";
import { ask, outcome, why } from "/sim.js";

/** @typedef {import("/sim.js").Message} Message */

/** @param {{ asked: any, many: boolean, chosen: string[], choose: (ids: string[]) => void }} props */
function Question({ asked, many, chosen, choose }) {
  const name = asked.question_key;
  const title = asked.title ?? name;
  /** @param {string} id @param {boolean} on */
  const set = (id, on) => choose(many ? (on ? [...chosen, id] : chosen.filter((one) => one !== id)) : [id]);
  return html`<fieldset><legend>${title}</legend>
    ${asked.option_list.map((/** @type {any} */ option) => html`<label key=${option.id}>
      <input type=${many ? "checkbox" : "radio"} name=${name} checked=${chosen.includes(option.id)}
        onChange=${(/** @type {any} */ event) => set(option.id, event.target.checked)} /> ${option.text}</label>`)}
  </fieldset>`;
}

/** @param {{ message: Message }} props */
export function Card({ message }) {
  const { card } = message;
  const [selected, setSelected] = useState(/** @type {Record<string, string[]>} */ ({}));
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const title = card.main_title?.title ?? card.sub_title_text ?? card.card_type;
  /** @param {string} key */
  const click = async (key) => {
    setBusy(true);
    setWrong("");
    try {
      const { id, user } = message;
      outcome(await ask("click", { user, id, key, selected }));
    } catch (error) {
      setWrong(why(error));
    }
    setBusy(false);
  };
  /** @type {{ asked: any, many: boolean }[]} */
  const questions = [
    ...(card.select_list ?? []).map((/** @type {any} */ asked) => ({ asked, many: false })),
    ...(card.button_selection ? [{ asked: card.button_selection, many: false }] : []),
    ...(card.checkbox ? [{ asked: card.checkbox, many: card.checkbox.mode === 1 }] : []),
  ];
  const buttons = [...(card.button_list ?? []), ...(card.submit_button ? [card.submit_button] : [])];
  return html`<article class="card wecom" aria-label=${t("card", { title })}>
    ${card.source?.desc && html`<p class="quiet small">${card.source.desc}</p>`}
    <h3>${title}</h3>
    ${card.main_title?.desc && html`<p class="mono">${card.main_title.desc}</p>`}
    ${card.emphasis_content?.title && html`<p class="emphasis">${card.emphasis_content.title}</p>`}
    ${card.main_title?.title && card.sub_title_text && html`<p class="words">${card.sub_title_text}</p>`}
    ${card.quote_area && html`<blockquote>${card.quote_area.title} ${card.quote_area.quote_text}</blockquote>`}
    ${card.horizontal_content_list?.length > 0 && html`<dl>${card.horizontal_content_list.map((/** @type {any} */ row) => html`
      <dt>${row.keyname}</dt><dd>${row.value}</dd>`)}</dl>`}
    ${questions.map(({ asked, many }) => html`<${Question} key=${asked.question_key} asked=${asked} many=${many}
      chosen=${selected[asked.question_key] ?? []} choose=${(/** @type {string[]} */ ids) => setSelected({ ...selected, [asked.question_key]: ids })} />`)}
    ${message.chosen ? html`<p class="pill good">${message.chosen} <span class="sr">${t("chosen")}</span></p>`
      : buttons.length > 0 && html`<div class="card-buttons">${buttons.map((button) => html`<button type="button" key=${button.key ?? button.text}
        class=${button.style === 1 || button === card.submit_button ? "main" : ""} disabled=${busy || button.type === 1}
        onClick=${() => click(button.key)}>${button.text}</button>`)}</div>`}
    ${card.action_menu && html`<div class="card-menu" role="group" aria-label=${t("menu")}>${card.action_menu.action_list.map((/** @type {any} */ one) => html`
      <button type="button" class="link" key=${one.key} onClick=${() => click(one.key)}>${one.text}</button>`)}</div>`}
    ${wrong && html`<p role="alert" class="danger">${wrong}</p>`}
  </article>`;
}

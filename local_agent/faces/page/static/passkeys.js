// @ts-check
/**
 * Approval by passkey, where the person has set one up, and adding one that a terminal asks for.
 * What is signed is exactly what is shown and chosen; the agent verifies all of it.
 */
import { ActButton, RefusedError, api, html, refusal, t, useEffect, useRef, useState, useStore } from "/kit/kit.js";
import { store } from "/app.js";

const ARMED_MS = 1500;
const LOOK_MS = 2000; // between two looks at whether a one-time code could be shown

/** A promise of the browser's own that a person may turn down. @template T @param {Promise<T>} asked */
async function turned(asked) {
  try {
    return await asked;
  } catch {
    throw new RefusedError(refusal("passkey-failed"), 0);
  }
}

/**
 * True once an element has been wholly in sight, in a window with the focus, for a while.
 * @param {string} on What it is about; another begins anew.
 */
function useArmed(on) {
  const at = useRef(/** @type {HTMLElement | null} */ (null));
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let seen = false;
    const begin = () => {
      clearTimeout(timer);
      setArmed(false);
      if (seen && document.hasFocus()) timer = setTimeout(() => setArmed(true), ARMED_MS);
    };
    const observer = new IntersectionObserver(([entry]) => {
      seen = entry.intersectionRatio >= 0.99;
      begin();
    }, { threshold: [0, 0.99, 1] });
    if (at.current) observer.observe(at.current);
    window.addEventListener("focus", begin);
    window.addEventListener("blur", begin);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      window.removeEventListener("focus", begin);
      window.removeEventListener("blur", begin);
    };
  }, [on]);
  return { at, armed };
}

/** What would show a one-time code now; null until it is known. @param {boolean} needed */
function useCodesIn(needed) {
  const [where, set] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    if (!needed) return undefined;
    const look = () => api.get("/api/passkeys").then((told) => set(told.codes_in), () => {});
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [needed]);
  return where;
}

/**
 * @param {{
 *   question: import("/views.js").PageQuestion, approval: string, sent: object, seen: boolean,
 * }} props `sent` says which question it is and what is chosen of it, `seen` that it was all read.
 */
export function Passkey({ question, approval, sent, seen }) {
  const boot = useStore(store, (state) => state.boot);
  const [touch, setTouch] = useState(/** @type {{ digest: string, options: any } | null} */ (null));
  const [typed, setTyped] = useState("");
  const high = question.high_risk;
  const can = boot.passkeys && location.hostname === "localhost" && Boolean(window.PublicKeyCredential);
  const codesIn = useCodesIn(can && high);
  const offered = !high || (seen && Boolean(codesIn));
  const { at, armed } = useArmed(`${offered} ${touch !== null}`);
  if (!can) return null;
  const path = `/api/approvals/${encodeURIComponent(approval)}`;
  const sign = async (/** @type {{ digest: string, options: any }} */ { digest, options }) => {
    const signed = await turned(navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
    // While the browser asked, something else was chosen here, or is asked by now.
    if (!at.current) throw new RefusedError(refusal("passkey-failed"), 0);
    const answer = /** @type {PublicKeyCredential} */ (signed).toJSON();
    try {
      await api.post(`${path}/passkey`, { digest, answer, typed });
    } catch (error) {
      // Whatever else was wrong, the touch is over: it is asked for again.
      if (!(error instanceof RefusedError && error.told.code === "passkey.wrong-once")) setTouch(null);
      setTyped("");
      throw error;
    }
  };
  const approve = async () => {
    const asked = await api.post(`${path}/options`, sent);
    if (high) setTouch(asked);
    else await sign(asked);
  };
  return html`<span class="passkey" ref=${at}>
    ${high && codesIn === "" ? html`<span class="quiet">${t("passkey-no-display")}</span>`
      : high && !seen && html`<span class="quiet">${t("read-first")}</span>`}
    ${touch && codesIn !== "" && html`<label>${t(`passkey-code-${codesIn}`)} <input type="text" class="mono" size="8"
      autocomplete="off" spellcheck="false" value=${typed}
      onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} /></label>`}
    ${codesIn !== "" && html`<${ActButton} act=${touch ? () => sign(touch) : approve}
      title=${t("passkey-how")} disabled=${!armed || !offered || (touch && !typed.trim())}>
      ${t(touch ? "passkey-sign" : "passkey-approve")}</${ActButton}>`}</span>`;
}

/** Where the link of `codexbridge passkey add` leads. */
export function AddPasskey() {
  const [made, setMade] = useState(/** @type {{ name: string, code: string } | null} */ (null));
  const [none, setNone] = useState(false);
  const [accepted, setAccepted] = useState(false);
  const add = async () => {
    setNone(false);
    let options;
    try {
      options = await api.post("/api/passkeys/options");
    } catch (error) {
      if (error instanceof RefusedError && error.told.code === "passkey.no-ceremony") return setNone(true);
      throw error;
    }
    const created = await turned(navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }));
    const answer = /** @type {PublicKeyCredential} */ (created).toJSON();
    return setMade(await api.post("/api/passkeys/register", { answer }));
  };
  useEffect(() => {
    if (!made || accepted) return undefined;
    // Its code is typed in the terminal, of which nobody tells the page.
    const timer = setInterval(async () => {
      const { passkeys } = await api.get("/api/passkeys");
      if (!passkeys.some((/** @type {any} */ one) => one.code === made.code)) return;
      setAccepted(true);
      store.set({ boot: { ...store.get().boot, passkeys: true } });
    }, 1000);
    return () => clearInterval(timer);
  }, [made, accepted]);
  return html`<main id="content" class="column" tabindex="-1">
    <h1>${t("passkeys")}</h1>
    <section class="card padded">${made
      ? html`<p><strong>${made.name}</strong></p><p><span class="code" role="status">${made.code}</span></p>
        <p role="status">${t(accepted ? "passkey-accepted" : "passkey-type")}</p>`
      : html`<p>${none ? t("passkey-none") : t("passkey-begin")}</p>
        <div class="actions"><${ActButton} class="main" act=${add}>${t("passkey-add")}</${ActButton}></div>`}
    </section></main>`;
}

// @ts-check
// The chat of the simulated WeCom.  Text goes in by textContent only; nothing is ever parsed as HTML.

const SENTENCES = {
  zh: {
    badge: "企业微信模拟器 · 仅限 127.0.0.1", title: "开发助手 CodexBridge", as: "以成员身份：",
    placeholder: "发送到应用…", send: "发送", try: "试一试", other: "English",
    note: "这里只能提出任务。批准在开发机的终端里进行：聊天里的任何文字都不算批准。",
    lost: "与模拟器的连接断开，正在重连…",
  },
  en: {
    badge: "WeCom simulator · 127.0.0.1 only", title: "Dev assistant CodexBridge", as: "as member: ",
    placeholder: "Send to the app…", send: "Send", try: "Try", other: "中文",
    note: "Tasks are only proposed here. Approval happens in the terminal of the dev machine: no text in a chat counts as one.",
    lost: "The connection to the simulator is gone; trying again…",
  },
};
const EXAMPLES = ["@dev test", "@dev help", "@dev status", "@dev search retry", "@dev review",
  "@dev 跑一下测试", "@dev fix the login retry", "@dev test --cmd=\"ls -l\""];

/** @type {"zh" | "en"} */
let language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
let last = 0;
/** @type {{number: number, sender: string, user: string, text: string, at_ms: number}[]} */
const kept = [];

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

function speak() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const place of document.querySelectorAll("[data-say]")) {
    const key = /** @type {HTMLElement} */ (place).dataset.say;
    place.textContent = SENTENCES[language][/** @type {"send"} */ (key)];
  }
  byId("language").textContent = SENTENCES[language].other;
  byId("text").placeholder = SENTENCES[language].placeholder;
}

/** @param {{sender: string, user: string, text: string, at_ms: number}} message */
function show(message) {
  const item = document.createElement("li");
  item.className = message.sender;
  if (message.sender === "system") {
    item.textContent = message.text;
  } else {
    const face = document.createElement("span");
    face.className = "face";
    face.setAttribute("aria-hidden", "true");
    face.textContent = message.sender === "app" ? "CB" : message.user.slice(0, 2).toUpperCase();
    const bubble = document.createElement("div");
    bubble.className = "bubble";
    bubble.textContent = message.text;
    const time = document.createElement("time");
    time.textContent = new Date(message.at_ms).toLocaleTimeString(language);
    bubble.append(time);
    item.append(face, bubble);
  }
  byId("chat").append(item);
  item.scrollIntoView({ block: "end" });
}

function member() {
  return byId("user").value.trim() || "zhangwei";
}

/** @param {string} text */
async function send(text) {
  if (!text.trim()) return;
  await fetch("/api/say", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Simulator": "1" },
    body: JSON.stringify({ user: member(), text }),
  });
}

async function follow() {
  let told = false;
  for (;;) {
    try {
      const answer = await fetch(`/api/messages?after=${last}&wait=1`);
      for (const message of await answer.json()) {
        last = message.number;
        kept.push(message);
        if (message.user === member()) show(message);
      }
      told = false;
    } catch {
      if (!told) show({ sender: "system", user: "", text: SENTENCES[language].lost, at_ms: 0 });
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

for (const example of EXAMPLES) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = example;
  button.addEventListener("click", () => { byId("text").value = example; byId("text").focus(); });
  byId("examples").append(button);
}
byId("user").addEventListener("input", () => {
  byId("chat").replaceChildren();
  for (const message of kept) if (message.user === member()) show(message);
});
byId("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  speak();
});
byId("form").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  const text = byId("text").value;
  byId("text").value = "";
  void send(text);
});
byId("text").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId("form").requestSubmit();
  }
});
speak();
void follow();

// @ts-check
/** Turns the secret of a launch link into a session, and takes it out of the address at once. */

const secret = location.hash.slice(1);
history.replaceState(null, "", "/launch");

async function launch() {
  const answer = await fetch("/api/launch", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ secret }),
  });
  if (!answer.ok) throw new Error(String(answer.status));
  const granted = await answer.json();
  localStorage.setItem("token", granted.token);
  location.replace(granted.purpose ? `/#/${granted.purpose}` : "/");
}

launch().catch(() => {
  for (const hidden of document.querySelectorAll("[hidden]")) hidden.removeAttribute("hidden");
  document.querySelector("[data-waiting]")?.remove();
});

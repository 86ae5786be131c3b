// Every page works without this file; with it, figures renew themselves and the theme can be chosen.
const root = document.documentElement
const RENEW_MS = 10_000

const darkNow = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches

for (const button of document.querySelectorAll("[data-toggle-theme]")) {
  button.hidden = false
  button.addEventListener("click", () => {
    root.dataset.theme = darkNow() ? "light" : "dark"
    document.cookie = `sluice_theme=${root.dataset.theme}; path=/admin; samesite=strict; max-age=31536000`
  })
}

// While somebody reads a figure, or another tab is in front, nothing moves.
const busy = () => document.hidden || document.querySelector(".hit:hover, .hit:focus, main :focus-visible")

const renew = async () => {
  if (busy()) return
  const live = document.querySelector("[data-live]")
  try {
    const reply = await fetch(location.href, { headers: { accept: "text/html" } })
    if (reply.redirected) return location.reload() // the session has ended
    const next = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("main")
    const main = document.querySelector("main")
    if (!busy() && next && next.innerHTML !== main.innerHTML) main.replaceChildren(...next.childNodes)
    live.dataset.live = reply.ok ? "" : "lost"
  } catch {
    live.dataset.live = "lost"
  }
  live.textContent = live.dataset.live ? "Reconnecting" : "Live"
}
if (document.querySelector("[data-live]")) setInterval(renew, RENEW_MS)

// Pointing at a name in a legend or a table leaves only its colour in the chart.
const highlight = (event) => {
  const colour = event.type === "pointerover" && event.target.closest?.("[data-series]")?.dataset.series
  for (const part of document.querySelectorAll(".bars path")) {
    part.classList.toggle("faded", Boolean(colour) && !part.classList.contains(colour))
  }
}
document.addEventListener("pointerover", highlight)
document.addEventListener("pointerleave", highlight)

const offerCopies = () => {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard
}
document.addEventListener("click", async ({ target }) => {
  if (!target.dataset?.copy) return
  await navigator.clipboard.writeText(document.getElementById(target.dataset.copy).textContent)
  target.textContent = "Copied"
})
offerCopies()

// Steering a crawl: everything goes through one dialog, which says what is asked for, shows on demand what would move,
// and does it. What comes of it is told by the crawl itself.
import { count, el, fill, fixed, get, link, notice, post, rows, shorten, trying, writes } from "./dom.js";

const $ = (id) => document.getElementById(id);
const LIMITS = [["pages", "pages", "Stop after so many pages."], ["matches", "finds", "Stop after so many finds."], ["time", "time", "Stop after a time such as 30m or 2h."], ["requests", "requests", "Stop after so many requests."], ["stop", "rule", "Stop when a rule holds, such as recall >= 0.9 or stale >= 500."]];

export function steering(base, seen) {
  if (!writes) return null;
  const dialog = $("steer-dialog");
  let wanted = {};
  let job = "";

  // asking, and waiting for what comes of it

  async function ask(request, preview, told = () => {}) {
    let now = await post(`${base}/steer`, { wanted: request, preview });
    const mine = now.job;
    if (preview) job = mine;
    while (!now.over) {
      await new Promise((done) => setTimeout(done, 250));
      if (preview && job !== mine) return null;
      now = (await get(`${base}/steered`)).find((one) => one.job === mine) ?? { over: true, error: "the dashboard was started anew meanwhile: see below what came of it" };
      told(now);
    }
    if (now.error) throw new Error(now.error);
    return now;
  }

  function leave() {
    if (job) post(`${base}/unwanted`, { job }).catch(() => {});
    job = "";
  }

  // the dialog

  const FIELDS = { match: (v) => ["look for ", el("code", {}, v)], strategy: (v) => [`choose by the strategy ${v}`], weights: (v) => [v === "none" ? "let the strategy weigh its reasons itself" : `weigh ${Object.entries(v).map(([name, x]) => `${name} ${x}`).join(", ")}`],
    pages: (v) => [`stop after ${v} pages`], matches: (v) => [`stop after ${v} finds`], time: (v) => [`stop after ${v}`], requests: (v) => [`stop after ${v} requests`], stop: (v) => ["stop when ", el("code", {}, v)],
    ban_host: (v) => ["fetch nothing more from ", el("bdi", {}, v)], boost: (v) => Object.entries(v).flatMap(([pattern, factor]) => [el("code", {}, pattern), factor === 1 || factor === "1" ? " is worth what it is again" : ` is worth ${factor} times as much`]),
    feedback: (v) => Object.entries(v).flatMap(([url, yes]) => [el("bdi", {}, shorten(url, 120)), yes ? " is a find" : " is not a find"]) };

  function open(title, request) {
    leave();
    wanted = request;
    $("steer-title").textContent = title;
    fill($("steer-wanted"), Object.entries(request).map(([name, value]) => el("li", {}, FIELDS[name]?.(value) ?? `${name} ${value}`)));
    say("");
    fill($("steer-moves"));
    $("steer-apply").disabled = $("steer-preview").disabled = false;
    if (!dialog.open) dialog.showModal();
  }

  function say(text, bad = false) {
    $("steer-said").textContent = text;
    $("steer-said").className = bad ? "error" : "note";
  }

  const far = (now, what) => say(now.total ? `${what}: ${count(now.done)} of ${count(now.total)} decisions` : `${what} …`);

  $("steer-preview").addEventListener("click", async () => {
    $("steer-preview").disabled = true;
    say("working out what would move …");
    try {
      const now = await ask(wanted, true, (one) => far(one, "working out what would move"));
      if (now?.preview) { say(""); moves(now.preview); }
    } catch (error) { say(error.message, true); }
    $("steer-preview").disabled = false;
  });

  $("steer-apply").addEventListener("click", async () => {
    $("steer-apply").disabled = true;
    leave();
    say("asking the crawl …");
    try {
      const now = await ask(wanted, false, (one) => far(one, "the crawl learns again"));
      if (now.state === "waiting") notice("Kept: it is taken in when the crawl goes on.");
      else notice(now.decision ? `Done, as decision ${count(now.decision)}.` : now.message);
      dialog.close();
      reset();
    } catch (error) { say(error.message, true); $("steer-apply").disabled = false; }
  });

  dialog.addEventListener("close", leave);
  $("steer-close").addEventListener("click", () => dialog.close());

  function moves(found) {
    const table = (title, items) => el("div", {}, el("h3", {}, title), items.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "n" }, "place"), el("th", { scope: "col" }, "link"), el("th", { scope: "col", class: "n" }, "score"))),
      el("tbody", {}, items.map((one) => el("tr", {}, el("td", { class: "n" }, `${count(one.place_before)} → ${count(one.place_after)}`), el("td", { class: "url" }, link(one.url)), el("td", { class: "n" }, `${fixed(one.before, 2)} → ${fixed(one.after, 2)}`)))))) : el("p", { class: "note" }, "none"));
    fill($("steer-moves"),
      el("p", {}, el("b", {}, `${count(found.moved)} of ${count(found.waiting)} links that wait would be worth something else.`), found.finds ? ` Finds: ${count(found.finds[0])} now, ${count(found.finds[1])} then.` : "", " Nothing was changed."),
      table("These rise most", found.rises), table("These fall most", found.falls));
  }

  // the panel

  const panel = $("steer-form");
  let shown = "";

  function wantedOf() {
    const now = seen.steering ?? {};
    const found = {};
    const match = $("steer-match").value.trim();
    if (match && match !== now.match) found.match = match;
    if ($("steer-strategy").value !== now.strategy) found.strategy = $("steer-strategy").value;
    for (const [name] of LIMITS) {
      const value = $(`steer-${name}`).value.trim();
      const before = now.limits?.[name];
      if (value !== (before === null || before === undefined ? "" : String(before))) found[name] = value || "none";
    }
    const pattern = $("steer-pattern").value.trim();
    if (pattern) found.boost = { [pattern]: Number($("steer-factor").value) };
    const host = $("steer-host").value.trim();
    if (host) found.ban_host = host;
    if (weighed === "own") found.weights = Object.fromEntries([...panel.querySelectorAll("[data-part]")].map((row) => [row.dataset.part, Number(row.querySelector("input").value)]));
    if (weighed === "none") found.weights = "none";
    return found;
  }

  let weighed = "";
  function reset() { shown = ""; draw(seen.steering ?? {}); }

  function draw(now) {
    seen.steering = now;
    const said = JSON.stringify(now);
    // What somebody is filling in is left alone.
    if (said === shown || !now.match || (shown && Object.keys(wantedOf()).length)) { boosts(now); return; }
    shown = said;
    weighed = "";
    $("steer-match").value = now.match;
    $("steer-match").rows = Math.min(8, Math.max(2, now.match.split("\n").length));
    fill($("steer-strategy"), now.strategies.map((name) => el("option", { value: name }, name)));
    $("steer-strategy").value = now.strategy;
    for (const [name] of LIMITS) $(`steer-${name}`).value = now.limits[name] ?? "";
    $("steer-pattern").value = $("steer-host").value = "";
    $("steer-factor").value = "2";
    const own = Object.keys(now.weights).length > 0;
    fill($("steer-weights"), now.parts.map((part) => {
      const value = own ? (now.weights[part] ?? 0) : 1;
      const output = el("output", {}, own ? String(value) : "itself");
      const slider = el("input", { type: "range", min: "0", max: "3", step: "0.05", value: String(value), "aria-label": `weight of ${part}` });
      slider.addEventListener("input", () => { weighed = "own"; for (const row of panel.querySelectorAll("[data-part]")) row.querySelector("output").textContent = row.querySelector("input").value; });
      const row = el("div", { class: "weight plain" }, el("span", {}, part), slider, output);
      row.dataset.part = part;
      return row;
    }));
    $("steer-unweigh").hidden = !own;
    boosts(now);
  }

  function boosts(now) {
    rows($("steer-boosts"), now.boosts ?? [], (one) => one.pattern, (one) => el("li", {}, el("code", {}, one.pattern), ` × ${one.factor} `, el("button", { type: "button", class: "small", onclick: () => open("Take a boost back", { boost: { [one.pattern]: 1 } }) }, "Take back")));
  }

  for (const [name, label, help] of LIMITS) {
    const field = el("input", { id: `steer-${name}`, type: "text", spellcheck: "false", autocomplete: "off", placeholder: "none" });
    $("steer-limits").append(el("label", { "data-tip": help }, label, field));
  }
  $("steer-unweigh").addEventListener("click", () => open("Weights", { weights: "none" }));
  $("steer-undo").addEventListener("click", reset);
  panel.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = wantedOf();
    if (!Object.keys(request).length) { notice("Nothing was changed in the form."); return; }
    open("Steer", request);
    if (event.submitter?.id === "steer-look") $("steer-preview").click();
  });

  return {
    draw,
    now: (request) => ask(request, false),
    ban: (host) => open("Ban a host", { ban_host: host }),
    feedback: (url, yes = false) => open(yes ? "This is one" : "This is not one", { feedback: { [url]: yes } }),
    boost: (pattern, factor) => open("Boost", { boost: { [pattern]: factor } }),
  };
}

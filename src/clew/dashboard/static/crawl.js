import { Chart, COLOURS } from "./charts.js";
import { graph } from "./graph.js";
import { steering } from "./steer.js";
import { count, dataTable, el, fill, fixed, get, latest, link, notice, pieces, post, put, rows, seldom, shorten, signed, time, tooltips, trying } from "./dom.js";

tooltips();
const key = document.getElementById("crawl").dataset.key;
const base = `/crawl/${key}`;
const $ = (id) => document.getElementById(id);
const seen = { state: {}, curve: { pages: [], finds: [], chance: [], marks: [] }, factors: { names: [], words: [], pages: [], series: [] } };
const steer = steering(base, seen);

// the state

function state(now) {
  seen.state = now;
  $("crawl").classList.remove("unread");
  $("looks").hidden = !now.formula;
  const pill = $("status");
  pill.textContent = now.status === "finished" && now.stopped ? `finished: ${now.stopped}` : now.status;
  pill.className = `pill ${now.status}`;
  document.title = `${count(now.finds)} finds · clew`;
  $("formula").textContent = now.formula;
  $("strategy").textContent = now.strategy;
  $("f-finds").textContent = count(now.finds);
  fill($("f-pages"), count(now.pages), now.budget ? el("small", {}, ` of ${count(now.budget)}`) : null);
  $("f-harvest").textContent = fixed(now.harvest);
  $("f-recent").textContent = fixed(now.recent);
  $("f-pace").textContent = fixed(now.pace, 1);
  $("f-elapsed").textContent = time(now.elapsed);
  $("f-left").textContent = time(now.left);
  for (const name of ["queue", "requests", "hosts", "duplicates", "failed"]) $(`f-${name}`).textContent = count(now[name]);
  $("progress").hidden = !now.budget;
  if (now.budget) $("progress-done").style.width = `${Math.min(100, (100 * now.pages) / now.budget)}%`;
  const running = now.status === "running";
  $("pause").hidden = !steer || !running;
  $("unpause").hidden = !steer || now.status !== "paused";
  $("stop").hidden = !(running || now.status === "paused");
  $("goon").hidden = running || now.status === "paused";
}

$("pause").addEventListener("click", trying(async () => { notice("pausing: what is under way is settled first"); await steer.now({ pause: true }); }));
$("unpause").addEventListener("click", trying(async () => { notice("resuming"); await steer.now({ resume: true }); }));
$("goon").addEventListener("click", trying(async () => {
  const ended = seen.state.stopped;
  const field = steer && seen.state.status === "finished" ? document.getElementById(`steer-${ended}`) : null;
  if (field && seen.state.budget === seen.state.pages) {
    $("steer").open = true;
    field.focus();
    field.select();
    notice(`It ended because its ${ended} were used up: give more here and apply, then go on.`);
    return;
  }
  await post(`${base}/resume`, {});
  notice("starting again");
}));
$("stop").addEventListener("click", trying(async () => { await post(`${base}/stop`, {}); notice("stopping at a checkpoint"); }));

// the curve

const curve = new Chart($("chart-curve"), "pages", "finds", 280);
const CHANCE = "by chance";
const curveTable = dataTable("curve", () => [["pages", "finds", ...(seen.curve.chance.length ? [CHANCE] : [])],
  ...seen.curve.pages.map((x, i) => [x, seen.curve.finds[i], ...(seen.curve.chance.length ? [seen.curve.chance[i]] : [])])]);

function drawCurve(now) {
  seen.curve = now;
  const lines = [{ name: "finds", values: now.finds, colour: 0 }];
  if (now.chance.length) lines.push({ name: CHANCE, values: now.chance, colour: 1, dash: true, tip: "An estimate of what choosing at random among all links that were known at the time would have brought. A link that waits counts by what is thought to be left." });
  curve.show(now.pages, lines, now.marks);
  rows($("marks"), now.marks.slice(-50).reverse(), (mark) => mark.seq, (mark) => el("li", {}, el("b", {}, `page ${count(mark.page)}`), " ", el("bdi", {}, shorten(mark.text, 300))));
  curveTable();
}

// several interests

const interestChart = new Chart($("chart-interests"), "pages", "finds", 240);
const interestTable = dataTable("interests", () => [["pages", ...seen.interests.each.map((one) => one.name)], ...seen.interests.pages.map((x, i) => [x, ...seen.interests.series.map((line) => line[i])])]);

function interests(now) {
  seen.interests = now;
  const names = now.each.map((one) => one.name);
  $("panel-interests").hidden = $("finds-for").hidden = !names.length;
  const filter = $("finds-interest");
  if (filter.clewNames !== names.join(" ")) {
    const before = filter.value;
    filter.clewNames = names.join(" ");
    fill(filter, el("option", { value: "" }, "any"), names.map((name) => el("option", { value: name }, name)));
    filter.value = names.includes(before) ? before : "";
  }
  if (!names.length) return;
  $("interests-share").textContent = now.share === "greedy" ? "turns go to whoever finds most lately" : "turns are shared evenly";
  interestChart.show(now.pages, now.each.map((one, number) => ({ name: one.name, values: now.series[number], colour: number, dash: number >= COLOURS })));
  rows(document.querySelector("#interests tbody"), now.each.map((one, number) => ({ ...one, number })), (one) => one.name, (one) => el("tr", {},
    el("td", { class: "name" }, el("span", { class: `swatch s${one.number % COLOURS}` }), " ", el("bdi", {}, one.name)), el("td", { class: "formula" }, one.formula),
    el("td", { class: "n" }, count(one.finds)), el("td", { class: "n" }, count(one.requests)), el("td", { class: "n" }, one.share === null ? "–" : `${Math.round(100 * one.share)} %`),
    el("td", { class: "do" }, el("button", { type: "button", class: "small", "aria-label": `Show finds of ${one.name}`, onclick: () => { filter.value = one.name; refilter(); $("h-finds").scrollIntoView(); filter.focus({ preventScroll: true }); } }, "Show finds"))));
  interestTable();
}

// how much is left

const recall = new Chart($("chart-left"), "pages", "recall", 170, [0, 1]);
const leftTable = dataTable("left", () => [["pages", "at least", "in the middle", "at most"], ...(seen.left?.series ? seen.left.series.pages.map((x, i) => [x, seen.left.series.low[i], seen.left.series.middle[i], seen.left.series.high[i]]) : [])]);

function left(now) {
  seen.left = now;
  for (const node of [$("chart-left"), $("left-data")]) node.hidden = !now.left;
  if (!now.left) { fill($("left-body"), el("p", { class: "note" }, `Nothing is said before ${now.few[0]} finds and ${now.few[1]} pages: too little to judge by.`)); return; }
  const [least, about, most] = now.left;
  fill($("left-body"),
    el("p", { class: "big" }, `Stop now and miss about ${count(about)}`),
    el("p", { class: "note" }, `Between ${count(least)} and ${count(most)}, in nine of ten crawls: `, el("span", { "data-tip": "The share found of all finds that links from the seeds lead to.", tabindex: "0" }, "recall"), ` ${fixed(now.low, 2)} to ${fixed(now.high, 2)}, as of page ${count(now.pages)}. `, el("span", { "data-tip": "Of what is left, the share that no fetched page links to yet.", tabindex: "0" }, `${Math.round(100 * now.unseen)} % of it`), " is not in sight yet. Pages that nothing leads to are not in it."));
  const { pages, low, middle, high } = now.series;
  recall.show(pages, [{ name: "at most", values: high, colour: 1, faint: true }, { name: "in the middle", values: middle, colour: 1 }, { name: "at least", values: low, colour: 1, faint: true, band: true }]);
  leftTable();
}

// what each factor said

const factors = new Chart($("chart-factors"), "pages", "contribution", 280, null, false);
let chosen = "";
const strength = (values) => values.reduce((sum, value) => sum + Math.abs(value), 0) / Math.max(1, values.length);
const factorTable = dataTable("factors", () => [["pages", ...seen.factors.names], ...seen.factors.pages.map((x, i) => [x, ...seen.factors.series.map((line) => line[i])])]);

function drawFactors(now) {
  seen.factors = now;
  $("explored").textContent = now.explored;
  $("explored").hidden = !now.explored;
  const order = now.names.map((name, at) => ({ name, at, value: strength(now.series[at]) })).filter((one) => one.value > 0).sort((a, b) => b.value - a.value);
  const told = order.slice(0, COLOURS);
  const extra = order.find((one) => one.name === chosen);
  if (extra && !told.includes(extra)) told[COLOURS - 1] = extra;
  told.sort((a, b) => a.at - b.at);
  const paint = new Map(told.map((one, number) => [one.name, number]));
  factors.show(now.pages, told.map((one) => ({ name: one.name, values: now.series[one.at], colour: paint.get(one.name), thick: one.name === chosen })));
  rows($("factor-keys"), order, (one) => one.name, (one) => {
    const last = now.series[one.at][now.series[one.at].length - 1];
    return el("button", { type: "button", "aria-pressed": String(one.name === chosen), "data-tip": `${now.words[one.at] || one.name}: lately it gave ${signed(last)} to the score of a fetched link`, onclick: trying(() => choose(one.name)) },
      el("i", { class: paint.has(one.name) ? `s${paint.get(one.name)}` : "" }), one.name, el("output", {}, signed(last)));
  }, (one) => JSON.stringify([one.name === chosen, paint.get(one.name), now.series[one.at].at(-1)]));
  if (!order.length) fill($("factor-keys"), el("p", { class: "note" }, now.names.length ? "Nothing was weighed yet." : "This strategy has no reasons to tell apart."));
  factorTable();
}

const moved = latest((name) => get(`${base}/moved?factor=${encodeURIComponent(name)}`));
async function choose(name) {
  chosen = chosen === name ? "" : name;
  drawFactors(seen.factors);
  const box = $("moved");
  box.hidden = !chosen;
  if (!chosen) return;
  const found = await moved(name);
  const list = (title, items) => el("div", {}, el("h3", {}, title), items.length ? el("ol", {}, items.map((item) => el("li", {}, el("span", { class: `chip ${item.value > 0 ? "up" : "down"}` }, signed(item.value)), el("span", { class: "url" }, link(item.url)), el("span", { class: `out ${item.result}` }, WORDS[item.result] ?? item.result)))) : el("p", { class: "note" }, "none"));
  fill(box, list(`Fetched sooner for ${name}`, found.up), list(`Held back by ${name}, and fetched all the same`, found.down));
}

// decisions as they happen

const pinned = new Map();
let held = false;
let newest = [];

$("hold").addEventListener("click", () => { held = !held; $("hold").setAttribute("aria-pressed", String(held)); if (!held) drawDecisions(newest); });

function drawDecisions(now) {
  newest = now;
  if (held) return;
  const items = [...pinned.values(), ...now.filter((line) => !pinned.has(line.seq))].slice(0, 40);
  rows(document.querySelector("#decisions tbody"), items, (line) => line.seq, (line) => {
    const host = hostOf(line.url);
    const pin = () => { if (pinned.has(line.seq)) pinned.delete(line.seq); else pinned.set(line.seq, line); drawDecisions(newest); };
    return el("tr", { class: pinned.has(line.seq) ? "pinned" : "" },
      el("td", { class: "n" }, count(line.seq)),
      el("td", { class: "url" }, link(line.url)),
      el("td", { class: "n" }, fixed(line.score, 2)),
      el("td", {}, el("div", { class: "chips" }, line.reasons.map((reason) => el("span", { class: `chip ${reason.value > 0 ? "up" : "down"}` }, `${reason.name} ${signed(reason.value)}`)))),
      el("td", {}, el("span", { class: `out ${line.result}` }, outcome(line))),
      el("td", { class: "do" },
        el("button", { type: "button", class: "small", onclick: trying(() => why(line.url)) }, "Why"), " ",
        el("button", { type: "button", class: "small", "aria-pressed": String(pinned.has(line.seq)), onclick: pin }, pinned.has(line.seq) ? "Unpin" : "Pin"), " ",
        steer && host ? el("button", { type: "button", class: "small danger", "data-tip": `Fetch nothing more from ${host}.`, onclick: () => steer.ban(host) }, "Ban") : null));
  }, (line) => JSON.stringify([line.seq, pinned.has(line.seq)]));
}

const WORDS = { match: "find", miss: "no find", duplicate: "copy", noindex: "not to be indexed", redirect: "redirect", retry: "tried again later", failed: "failed" };
function outcome(line) {
  const word = WORDS[line.result] ?? line.result;
  return line.result === "match" || line.result === "miss" ? `${word} ${fixed(line.verdict, 2)}` : line.status && line.result === "failed" ? `${word} ${line.status}` : word;
}
function hostOf(url) { try { return new URL(url).hostname; } catch { return ""; } }

// One window for both, so one question at a time: a page's text or why a link was taken.
const detail = latest((path) => get(`${base}/${path}`));

async function why(url) {
  show("Why", [el("p", { class: "note" }, "learning again what was known then …")]);
  const told = await detail(`explain?url=${encodeURIComponent(url)}`);
  show("Why", [el("pre", { tabindex: "0" }, told.lines.join("\n"))]);
}

// what is sought, tunnelling

function focus(now) {
  const same = now.judged === now.sought;
  fill($("focus"),
    el("p", {}, el("span", { class: "soft" }, "sought: "), el("code", {}, now.sought)),
    same ? el("p", { class: "note" }, "That is what is judged, too.") : el("p", {}, el("span", { class: "soft" }, "judged, now as ever: "), el("code", {}, now.judged)),
    now.changes.length ? el("ol", { class: "marks" }, now.changes.map((change) => el("li", {}, el("b", {}, `page ${count(change.page)}`), " ", el("bdi", {}, change.text)))) : null,
    now.parts.length ? el("ul", { class: "marks" }, now.parts.map((part) => el("li", {}, `${count(part.pages)} pages were about `, el("bdi", {}, part.part)))) : null,
    now.confidence === null ? el("p", { class: "note" }, "No directions are suspended: --confidence is off.") : el("p", {}, `Directions that go too deep without a find are suspended, at a confidence of ${now.confidence}. `, el("button", { type: "button", class: "small", onclick: trying(suspended) }, "Count them"), " ", el("span", { id: "suspended" })));
}

async function suspended() {
  const found = await get(`${base}/suspended`);
  const far = found.limit === null || found.limit_from_start === null ? "too few finds to say how far is too far" : `past ${found.limit} pages since the last find, ${found.limit_from_start} since a start page`;
  const place = document.getElementById("suspended");
  if (place) place.textContent = `${count(found.suspended)} links wait behind all others: ${far}.`;
}

// hosts

const ROBOTS = (status) => (status === null || status === undefined ? "not asked" : status === 0 ? "not reached" : status < 300 ? "yes" : status < 500 ? "none" : `failed ${status}`);
function hosts(now) {
  rows(document.querySelector("#hosts tbody"), now, (host) => host.host, (host) => el("tr", {},
    el("td", { class: "url" }, el("bdi", {}, host.host), host.refusal ? el("span", { class: "pill crashed" }, host.refusal) : null),
    el("td", { class: "n" }, count(host.queue)), el("td", { class: "n" }, count(host.pages)), el("td", { class: "n" }, count(host.finds)),
    el("td", { class: "n" }, fixed(host.pages ? host.finds / host.pages : 0, 2)), el("td", { class: "n" }, count(host.requests)), el("td", { class: "n" }, count(host.errors)),
    el("td", { class: "n" }, host.delay === null ? "–" : `${fixed(host.delay, 1)} s${host.wait > 10 ? `, waits ${time(host.wait)}` : ""}`),
    el("td", {}, ROBOTS(host.robots)),
    el("td", { class: "do" }, steer && !host.refusal ? el("button", { type: "button", class: "small danger", "aria-label": `Ban ${host.host}`, onclick: () => steer.ban(host.host) }, "Ban") : null)));
}

// finds

let offset = 0;
let total = 0;
const LIMIT = 10;
const ask = () => new URLSearchParams({ q: $("finds-q").value, interest: $("finds-interest").value, host: $("finds-host").value, least: $("finds-least").value || "0", sort: $("finds-sort").value, offset: String(offset), limit: String(LIMIT) });

const asked = latest(() => get(`${base}/finds?${ask()}`));
const drawFinds = trying(async () => {
  const found = await asked();
  total = found.total;
  rows($("finds"), found.finds, (find) => find.id, (find) => el("li", {},
    el("span", { class: "degree", "data-tip": "Its degree: how far it satisfies the formula, from 0 to 1.", tabindex: "0" }, fixed(find.degree, 2)),
    el("button", { type: "button", class: "title", onclick: trying(() => open(find.id)) }, find.title || "(no title)"),
    el("span", { class: "where" }, link(find.url), ` · ${find.depth === 1 ? "1 link" : `${find.depth} links`} from a seed${find.language ? ` · ${find.language}` : ""}`, find.interests.map((name) => [" ", el("span", { class: "chip" }, name)])),
    el("p", { class: "snippet" }, pieces(find.snippet)),
    el("span", { class: "do" }, steer ? el("button", { type: "button", class: "small", onclick: () => steer.feedback(find.url) }, "This is not one") : null)));
  $("finds-count").textContent = `${count(total)} finds`;
  $("finds-page").textContent = total ? `${count(offset + 1)} to ${count(Math.min(total, offset + LIMIT))} of ${count(total)}` : "none yet";
  $("finds-back").disabled = offset === 0;
  $("finds-on").disabled = offset + LIMIT >= total;
});

function refilter() { offset = 0; exportAs(); drawFinds(); }
$("finds-form").addEventListener("submit", (event) => { event.preventDefault(); refilter(); });
for (const name of ["finds-sort", "finds-interest"]) $(name).addEventListener("change", refilter);
$("finds-back").addEventListener("click", () => { offset = Math.max(0, offset - LIMIT); drawFinds(); });
$("finds-on").addEventListener("click", () => { offset += LIMIT; drawFinds(); });
function exportAs() {
  const interest = $("finds-interest").value;
  $("export").href = `${base}/export?${new URLSearchParams({ format: $("export-format").value, ...(interest ? { for: interest } : {}) })}`;
}
$("export-format").addEventListener("change", exportAs);

async function open(id) {
  const page = await detail(`find/${id}`);
  show(page.title || "(no title)", [
    el("p", { class: "url" }, link(page.url)),
    el("p", { class: "note" }, `${page.interests.length ? `for ${page.interests.join(", ")} · ` : ""}degree ${fixed(page.degree, 3)} · HTTP ${page.status} · ${page.type}${page.language ? ` · ${page.language}` : ""} · fetched ${String(page.fetched).slice(0, 16).replace("T", " ")} UTC`),
    el("h3", {}, "Why it is one"), el("ul", {}, page.reasons.map((reason) => el("li", {}, reason))),
    el("h3", {}, "The way to it"), el("ol", {}, page.way.map((step) => el("li", {}, step.anchor ? el("span", { class: "soft" }, el("bdi", {}, `“${shorten(step.anchor, 80)}” → `)) : null, link(step.url)))),
    el("h3", {}, "Its text"), el("div", { class: "text", tabindex: "0" }, pieces(page.text)),
  ]);
}

function show(title, children) {
  $("detail-title").textContent = title;
  fill($("detail-body"), children);
  if (!$("detail").open) $("detail").showModal();
}

// the graph

const graphTable = dataTable("graph", () => [["page", "links from a seed", "degree"], ...(seen.graph?.nodes ?? []).map((node) => [node.url, node.depth, node.degree])]);
const drawGraph = trying(async () => { seen.graph = await get(`${base}/graph`); graph($("graph"), seen.graph, (id) => trying(() => open(id))()); graphTable(); });
$("graph-again").addEventListener("click", drawGraph);

// problems

function problems(now) {
  const parts = [];
  if (now.crashed) parts.push(el("p", { class: "trouble" }, "The process that crawled ended without saying why. Nothing that was saved is lost: go on with it."));
  if (now.unreadable.length) parts.push(el("p", { class: "trouble" }, `Damaged, and left out: ${now.unreadable.join(", ")}. clew doctor says what is lost.`));
  if (now.waits.length) put(parts[parts.push(el("div", {})) - 1], el("h3", {}, "Waiting"), el("ul", { class: "marks" }, now.waits.map((wait) => el("li", {}, el("bdi", {}, wait.place), ` for ${time(wait.seconds)}: ${wait.why}`))));
  if (now.failures.length) parts.push(el("h3", {}, "Lately failed"), el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, now.failures.map((line) => el("tr", {}, el("td", { class: "url" }, link(line.url)), el("td", {}, el("span", { class: `out ${line.result}` }, outcome(line))), el("td", {}, line.why)))))));
  if (now.reasons.length) parts.push(el("h3", {}, "Left out"), el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, now.reasons.map((one) => el("tr", {}, el("td", { class: "n" }, count(one.count)), el("td", {}, one.reason), el("td", { class: "soft" }, one.words)))))));
  fill($("problems"), parts.length ? parts : el("p", { class: "note" }, "None."));
}

// live

let findsSeen = -1;
const findsLater = seldom(drawFinds, 1000);
const graphLater = seldom(drawGraph, 5000);
const source = new EventSource(`${base}/events`);
const on = (name, work) => source.addEventListener(name, (event) => work(JSON.parse(event.data)));
on("state", (now) => {
  state(now);
  if (now.finds !== findsSeen) { findsSeen = now.finds; if (offset === 0) findsLater(); graphLater(); }
});
on("curve", drawCurve);
on("interests", interests);
on("left", left);
if (steer) on("steering", steer.draw);
on("factors", drawFactors);
on("decisions", drawDecisions);
on("hosts", hosts);
on("problems", problems);
on("focus", focus);
on("trouble", ({ text }) => {
  $("trouble").hidden = !text;
  $("trouble").textContent = text;
  if (text && !seen.state.status) { $("status").textContent = "unreadable"; $("status").className = "pill unreadable"; }
});
let lost = 0;
source.addEventListener("error", () => { lost ||= setTimeout(() => { $("trouble").hidden = false; $("trouble").textContent = "The dashboard does not answer: was it stopped? What is shown is how it was last."; }, 4000); });
source.addEventListener("open", () => { if (lost) { clearTimeout(lost); lost = 0; $("trouble").hidden = true; } });

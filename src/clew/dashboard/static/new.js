import { el, fill, fixed, get, latest, later, post, tooltips, trying, writes } from "./dom.js";

tooltips();
const $ = (id) => document.getElementById(id);
const form = $("new");

function values() {
  const found = {};
  for (const field of form.querySelectorAll("[data-key]")) {
    const { key, kind } = field.dataset;
    if (kind === "interest") continue;
    if (kind === "many") found[key] = [...field.selectedOptions].map((option) => option.value);
    else if (kind === "switch") { if (field.value) found[key] = field.value === "true"; }
    else if (kind === "lines") found[key] = field.value.split("\n").map((line) => line.trim()).filter(Boolean);
    else if (field.value.trim()) found[key] = field.value.trim();
    if (Array.isArray(found[key]) && !found[key].length) delete found[key];
  }
  const match = sought();
  if (match.length) found.match = match;
  const weights = weighed();
  if (Object.keys(weights).length) found.weights = weights;
  return found;
}

// what to find: one formula, or several by name

const interests = () => [...form.querySelectorAll(".interest")].map((row) => ({ row, name: row.querySelector("input"), formula: row.querySelector("textarea") }));

function sought() {
  const all = interests();
  return all.length === 1 ? all[0].formula.value.trim() : all.map(({ name, formula }) => [name.value.trim(), formula.value.trim()]);
}

function number() {
  const all = interests();
  all.forEach(({ row, name, formula }, at) => {
    name.hidden = all.length === 1;
    name.setAttribute("aria-label", `Name of interest ${at + 1}`);
    if (at) formula.setAttribute("aria-label", `Formula of interest ${at + 1}`);
    for (const field of [name, formula]) field.setAttribute("aria-describedby", "h-match e-match");
    row.querySelector("button")?.setAttribute("aria-label", `Remove interest ${at + 1}`);
  });
}

let current = $("s-match");
form.addEventListener("focusin", ({ target }) => { if (target.matches(".interest textarea")) current = target; });
$("add-interest").addEventListener("click", () => {
  const fields = [el("input", { spellcheck: "false", placeholder: "name" }), el("textarea", { spellcheck: "false", placeholder: '"solar roof" AND lang:en' })];
  for (const field of fields) Object.assign(field.dataset, { key: "match", kind: "interest" });
  const row = el("div", { class: "interest" }, fields, el("button", { type: "button", class: "small", onclick: () => { row.remove(); current = $("s-match"); number(); check(); $("add-interest").focus(); } }, "Remove"));
  $("formulas").append(row);
  number();
  interests().find(({ name }) => !name.value).name.focus();
  check();
});

// What is wrong with one of several formulas begins with its name.
function invalid(text) {
  const all = interests();
  const bad = all.filter(({ name }) => name.value && text.startsWith(`${name.value.trim()}: `));
  for (const one of all) one.formula.setAttribute("aria-invalid", String(Boolean(text) && (!bad.length || bad.includes(one))));
}

// weights: the paper's three levels, or a number

function weighed() {
  const found = {};
  for (const row of form.querySelectorAll(".weight")) {
    const level = row.querySelector("select").value;
    if (level === "own") found[row.dataset.part] = Number(row.querySelector("input").value);
    else if (level) found[row.dataset.part] = level;
  }
  return found;
}

function drawWeights() {
  const choice = $("s-strategy");
  const named = choice.value || "intelligent";
  const option = [...choice.options].find((one) => one.value === named);
  $("h-strategy").textContent = option?.dataset.about ?? "";
  const parts = (option?.dataset.parts ?? "").split(" ").filter(Boolean);
  fill($("weights"), parts.map((part) => {
    const slider = el("input", { type: "range", min: "0", max: "3", step: "0.05", value: "1", disabled: true, "aria-label": `weight of ${part}` });
    const shown = el("output", {}, "");
    const level = el("select", { "aria-label": `importance of ${part}` }, [["", "as usual"], ["most", "most"], ["second", "second"], ["off", "off"], ["own", "own weight"]].map(([value, name]) => el("option", { value }, name)));
    level.addEventListener("change", () => { slider.disabled = level.value !== "own"; shown.textContent = level.value === "own" ? slider.value : ""; check(); });
    slider.addEventListener("input", () => { shown.textContent = slider.value; check(); });
    const row = el("div", { class: "weight" }, el("span", {}, part), level, slider, shown);
    row.dataset.part = part;
    return row;
  }));
}

// what is wrong, while it is typed

const settings = latest((asked) => post("/api/settings", asked));
const check = later(trying(async () => {
  if (!writes) return;
  const said = await settings({ values: values(), name: $("name").value.trim() });
  if (said.toml) $("toml").textContent = said.toml;
  for (const place of form.querySelectorAll("[data-error]")) {
    const text = said.errors[place.dataset.error] ?? "";
    const touched = place.dataset.error === "settings" || touchedFields.has(place.dataset.error);
    place.textContent = text;
    place.hidden = !text || !touched;
    if (place.dataset.error === "match") { invalid(touched ? text : ""); continue; }
    const field = place.dataset.error === "name" ? $("name") : form.querySelector(`[data-key="${place.dataset.error}"]`);
    field?.setAttribute("aria-invalid", String(Boolean(text) && touched));
  }
  $("start").disabled = !said.ready;
  if (said.errors.match) fill($("readback")); else await readBack();
}), 250);

const touchedFields = new Set();
form.addEventListener("input", (event) => { touchedFields.add(event.target.dataset?.key ?? event.target.id); check(); });
$("s-strategy").addEventListener("change", () => { drawWeights(); check(); });

const terms = (said) => el("table", {}, el("thead", {}, el("tr", {}, ["term", "degree", "weight"].map((name, at) => el("th", { scope: "col", class: at ? "n" : "" }, name)))),
  el("tbody", {}, said.terms.map((term) => el("tr", {}, el("td", {}, el("code", {}, `${term.negated ? "NOT " : ""}${term.term}`), term.words?.length ? el("span", { class: "soft" }, ` ${term.words.join(", ")}`) : null), el("td", { class: "n" }, term.degree === undefined ? "–" : fixed(term.negated ? 1 - term.degree : term.degree)), el("td", { class: "n" }, fixed(term.weight, 2))))));

const parsed = latest((match) => post("/api/formula", { values: { match } }));
const readBack = trying(async () => {
  const match = sought();
  if (!match.length || JSON.stringify(match).includes("like:")) { fill($("readback")); return; }
  const said = await parsed(match);
  fill($("readback"), said.notes.map((note) => el("p", { class: "help" }, note)), said.formulas.map((one) => [el("p", {}, one.name ? el("b", {}, `${one.name} `) : null, el("span", { class: "soft" }, "reads as "), el("code", {}, one.text)), terms(one)]));
}, () => fill($("readback")));

const judged = latest((asked) => post("/api/formula", asked));
$("try").addEventListener("click", trying(async () => {
  fill($("tried"), el("p", { class: "help" }, "asking …"));
  const said = await judged({ values: values(), url: $("try-url").value.trim(), text: $("try-text").value });
  fill($("tried"), said.title ? el("p", { class: "soft" }, `“${said.title}”`) : null, said.formulas.map((one) => [el("p", {}, el("b", {}, one.score === undefined ? "Give a page or a text." : `${one.name ? `${one.name} ` : ""}${fixed(one.score)}: ${one.satisfied ? "a find" : "no find"}`)), terms(one)]));
}, (error) => fill($("tried"), el("p", { class: "error" }, error.message))));

// adding to the formula

function add(term) {
  const field = current;
  field.value = field.value.trim() ? `${field.value.trim()} OR ${term}` : term;
  touchedFields.add("match");
  check();
}
for (const topic of form.querySelectorAll("[data-topic]")) topic.addEventListener("click", () => add(`topic:${topic.dataset.topic}`));
$("add-examples").addEventListener("click", () => { for (const line of $("examples").value.split("\n").map((one) => one.trim()).filter(Boolean)) add(`like:${line}`); $("examples").value = ""; });

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  $("start").disabled = true;
  $("starting").textContent = "starting …";
  try {
    const { key } = await post("/api/start", { values: values(), name: $("name").value.trim() });
    for (;;) {
      const now = await get(`/api/started/${key}`);
      if (now.there) { location.assign(`/crawl/${key}`); return; }
      if (now.failure) throw new Error(now.failure);
      await new Promise((done) => setTimeout(done, 300));
    }
  } catch (error) { $("starting").textContent = error.message; $("start").disabled = false; }
});

drawWeights();
check();

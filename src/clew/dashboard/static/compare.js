import { Chart } from "./charts.js";
import { count, dataTable, el, fill, fixed, get, latest, shorten, tooltips, trying } from "./dom.js";

tooltips();
const chart = new Chart(document.getElementById("chart-compare"), "pages", "finds", 320);
const form = document.getElementById("choose");
let shown = [];

const table = dataTable("compare", () => {
  const xs = places();
  return [["pages", ...shown.map((line) => shorten(line.name, 60))], ...xs.map((x) => [x, ...shown.map((line) => at(line, x))])];
});

const places = () => [...new Set(shown.flatMap((line) => line.x))].sort((a, b) => a - b);

function at(line, x) {
  if (!line.x.length || x > line.x[line.x.length - 1]) return null;
  let low = 0;
  let high = line.x.length - 1;
  while (low < high) { const middle = Math.ceil((low + high) / 2); if (line.x[middle] <= x) low = middle; else high = middle - 1; }
  return line.y[low];
}

const compare = latest((query) => (query ? get(`/api/compare?${query}`) : []));
const draw = trying(async () => {
  const chosen = [...form.querySelectorAll("input:checked")].map((box) => box.value);
  const query = chosen.map((key) => `c=${encodeURIComponent(key)}`).join("&");
  history.replaceState(null, "", query ? `/compare?${query}` : "/compare");
  shown = await compare(query);
  document.getElementById("lines").hidden = !shown.length;
  const nothing = document.getElementById("nothing");
  nothing.hidden = Boolean(shown.length) || !form.querySelector("input");
  const xs = places();
  chart.show(xs.length ? xs : [0], shown.map((line, number) => ({ name: shorten(line.name, 60), values: xs.map((x) => at(line, x)), colour: number, dash: number >= 6 })));
  fill(document.querySelector("#compared tbody"), shown.map((line, number) => el("tr", {},
    el("td", { class: "url" }, el("span", { class: `swatch s${number % 6}` }), " ", el("bdi", {}, line.name)),
    el("td", {}, line.strategy), el("td", {}, line.status), el("td", { class: "n" }, count(line.pages)), el("td", { class: "n" }, count(line.requests)),
    el("td", { class: "n" }, count(line.finds)), el("td", { class: "n" }, fixed(line.harvest)), el("td", { class: "n" }, fixed(line.per_find, 1)), el("td", { class: "n" }, count(line.half)))));
  table();
});

form.addEventListener("change", draw);
draw();

// The link graph as SVG, made element by element.
import { fill, shorten } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 1100;

function node(name, attributes, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

export function graph(place, data, open) {
  if (!data.nodes.length) { fill(place, Object.assign(document.createElement("p"), { className: "note", textContent: "No finds yet." })); return; }
  const columns = new Map();
  for (const one of data.nodes) columns.set(one.x, (columns.get(one.x) ?? 0) + 1);
  const height = Math.min(760, Math.max(200, 16 * Math.max(...columns.values())));
  const x = (one) => 30 + one.x * (WIDTH - 230);
  const y = (one) => 20 + one.y * (height - 40);
  const picture = node("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": `${data.drawn} of ${data.finds} finds and the ways to them` });
  for (const [from, to, way] of data.edges) {
    const [a, b] = [data.nodes[from], data.nodes[to]];
    picture.append(node("line", { x1: x(a), y1: y(a), x2: x(b), y2: y(b), class: way ? "way" : "other" }));
  }
  const labelled = data.nodes.length <= 80;
  for (const one of data.nodes) {
    const dot = node("circle", { cx: x(one), cy: y(one), r: one.find ? 6 : 4, class: one.find ? "find" : one.seed ? "seed" : "page" });
    dot.append(node("title", {}, one.url));
    if (one.find) {
      dot.setAttribute("tabindex", "0");
      dot.setAttribute("role", "button");
      dot.setAttribute("aria-label", one.url);
      dot.addEventListener("click", () => open(one.id));
      dot.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(one.id); } });
    }
    picture.append(dot);
    if (labelled || one.seed) picture.append(node("text", { x: x(one) + 9, y: y(one) + 4 }, shorten(one.host, 26)));
  }
  fill(place, picture);
}

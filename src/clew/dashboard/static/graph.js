// The link graph as SVG, made element by element; where everything stands was worked out by the server.
import { el, fill } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";

function node(name, attributes, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

export function graph(place, data, open) {
  if (!data.nodes.length) { fill(place, el("p", { class: "note" }, "No finds yet.")); return; }
  const picture = node("svg", { viewBox: `0 0 ${data.width} ${data.height}`, role: "group", "aria-label": `${data.drawn} of ${data.finds} finds and the ways to them` });
  for (const [from, to, way] of data.edges) {
    const [a, b] = [data.nodes[from], data.nodes[to]];
    picture.append(node("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: way ? "way" : "other" }));
  }
  for (const one of data.nodes) if (one.label) picture.append(node("text", { x: one.x + (one.seed ? -10 : 10), y: one.y + 4, class: one.seed ? "before" : "" }, one.label));
  for (const one of data.nodes) {
    const dot = node("circle", { cx: one.x, cy: one.y, r: one.find ? 6 : 4, class: one.find ? "find" : one.seed ? "seed" : "page" });
    dot.append(node("title", {}, one.url));
    if (one.find) {
      dot.setAttribute("tabindex", "0");
      dot.setAttribute("role", "button");
      dot.setAttribute("aria-label", one.url);
      dot.addEventListener("click", () => open(one.id));
      dot.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(one.id); } });
    }
    picture.append(dot);
  }
  fill(place, picture);
}

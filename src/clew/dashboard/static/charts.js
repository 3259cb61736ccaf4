// Charts by uPlot. Colours are the page's own, so they follow light and dark. The legend is the page's own too: it says
// the values under the pointer, or the last ones.
import { el, fill } from "./dom.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (n) => (n === null || n === undefined ? "–" : n.toLocaleString("en", { maximumFractionDigits: 2 }));
export const COLOURS = 6;

export class Chart {
  // range: of the values, where it is known; legend: whether there is one below
  constructor(place, across, up, height = 260, range = null, legend = true) {
    Object.assign(this, { place, across, up, height, range, lines: [], xs: [], marks: [], plot: null, shape: "", values: [] });
    this.legend = legend ? el("p", { class: "legend" }) : null;
    if (this.legend) place.after(this.legend);
    new ResizeObserver(() => this.plot?.setSize({ width: this.width, height: this.height })).observe(place);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.shape = ""; this.draw(); });
  }

  get width() { return Math.max(240, this.place.clientWidth); }

  // lines: [{name, values, colour: number, dash, faint, thick, tip, band: whether the space up to the first line is filled}]
  show(xs, lines, marks = []) {
    Object.assign(this, { xs, lines, marks });
    this.draw();
  }

  draw() {
    if (typeof uPlot === "undefined" || this.xs.length === 0 || this.place.hidden) return;
    const data = [this.xs, ...this.lines.map((line) => line.values)];
    const shape = JSON.stringify(this.lines.map(({ name, colour: c, dash, faint, thick }) => [name, c, dash, faint, thick]));
    if (this.plot && shape === this.shape) { this.plot.setData(data); this.tell(this.plot.cursor.idx); return; }
    this.shape = shape;
    this.plot?.destroy();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false }, font: "12px system-ui", labelFont: "12px system-ui", labelSize: 18, labelGap: 0, gap: 6 };
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const paint = (line) => colour(`--c${line.colour % COLOURS}`);
    const band = this.lines.findIndex((line) => line.band);
    this.plot = new uPlot({
      width: this.width, height: this.height,
      cursor: { drag: { x: true, y: false }, points: { show: !still, size: 7 } },
      scales: { x: { time: false, range: (_, low, high) => [low, high > low ? high : low + 1] }, y: this.range ? { range: this.range } : {} },
      legend: { show: false },
      axes: [{ ...axis, size: 26, grid: { show: false }, label: this.across, values: (_, ticks) => ticks.map(number) }, { ...axis, label: this.up, size: 52, values: (_, ticks) => ticks.map(number) }],
      series: [{ label: this.across }, ...this.lines.map((line) => ({
        label: line.name,
        stroke: line.faint ? `color-mix(in srgb, ${paint(line)} 45%, transparent)` : paint(line),
        width: line.thick ? 3 : line.faint ? 1 : 2,
        dash: line.dash ? [6, 4] : undefined,
        points: { show: this.xs.length < 2 },
        spanGaps: true,
      }))],
      bands: band < 0 ? undefined : [{ series: [1, band + 1], fill: `color-mix(in srgb, ${paint(this.lines[band])} 14%, transparent)` }],
      hooks: { draw: [(plot) => this.drawMarks(plot)], setCursor: [(plot) => this.tell(plot.cursor.idx)] },
    }, data, this.place);
    if (this.legend) {
      const output = () => { const node = el("output", {}); this.values.push(node); return node; };
      this.values = [];
      fill(this.legend, el("span", { class: "key" }, this.across, " ", output()), this.lines.map((line) => el("span", { class: "key", ...(line.tip ? { "data-tip": line.tip, tabindex: "0" } : {}) }, el("i", { class: `s${line.colour % COLOURS}${line.dash ? " dash" : line.faint ? " faint" : ""}` }), line.name, " ", output())));
    }
    this.tell(null);
  }

  tell(at) {
    if (!this.legend) return;
    const here = at ?? this.xs.length - 1;
    [this.xs, ...this.lines.map((line) => line.values)].forEach((values, i) => { if (this.values[i]) this.values[i].textContent = number(values[here]); });
  }

  drawMarks(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour("--c2");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { page } of this.marks) {
      const x = Math.round(plot.valToPos(page, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
}

// Small helpers. Text from the web goes into the page by text nodes only: `el` has no way to take markup.
export const token = document.querySelector('meta[name="clew-token"]')?.content ?? "";
export const writes = token !== "";

const ALLOWED = new Set(["class", "type", "id", "for", "scope", "tabindex", "role", "title", "value", "disabled", "hidden",
  "colspan", "min", "max", "step", "name", "checked", "aria-label", "aria-pressed", "aria-live", "data-tip", "data-host", "data-id", "download", "spellcheck", "autocomplete", "placeholder"]);

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (!ALLOWED.has(name)) throw new Error(`no attribute ${name}`);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  put(node, ...children);
  return node;
}

export function put(node, ...children) {
  for (const child of children.flat(2)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return put(node, ...children);
}

// An address as a link, when it is one of the web; whatever else as mere text.
export function link(url) {
  const shown = el("bdi", {}, shorten(url));
  if (!/^https?:\/\//i.test(url)) return shown;
  const a = el("a", {}, shown);
  a.href = url;
  a.target = "_blank";
  a.rel = "noopener noreferrer nofollow";
  return a;
}

export function shorten(text, most = 160) {
  const chars = [...String(text)];
  return chars.length > most ? `${chars.slice(0, most - 1).join("")}…` : chars.join("");
}

export function pieces(parts) {
  return parts.map(([text, marked]) => (marked ? el("mark", {}, text) : document.createTextNode(text)));
}

const whole = new Intl.NumberFormat("en");
export const count = (n) => (n === null || n === undefined ? "–" : whole.format(Math.round(n)));
export const fixed = (n, digits = 3) => (n === null || n === undefined || !Number.isFinite(n) ? "–" : n.toFixed(digits));
export const signed = (n) => (n === null || n === undefined ? "–" : `${n < 0 ? "−" : "+"}${Math.abs(n).toFixed(2)}`);

export function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} days ${Math.floor((s % 86400) / 3600)} h`;
}

export async function get(url) {
  const reply = await fetch(url, { credentials: "same-origin" });
  const said = await reply.json();
  if (!reply.ok) throw new Error(said.error ?? `the dashboard answered ${reply.status}`);
  return said;
}

export async function post(url, data) {
  const reply = await fetch(url, {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json", "x-clew-token": token },
    body: JSON.stringify(data),
  });
  const text = await reply.text();
  let said = {};
  try { said = JSON.parse(text); } catch { said = { error: text }; }
  if (!reply.ok) throw new Error(said.error ?? `the dashboard answered ${reply.status}`);
  return said;
}

export function notice(text) {
  const box = document.getElementById("notice");
  const note = el("p", {}, text);
  box.append(note);
  setTimeout(() => note.remove(), 8000);
}

// Replies may come in another order than they were asked for in: only the last question's answer counts, and what
// asked the earlier ones ends there, without a word.
class Superseded extends Error {}

export const latest = (ask) => {
  let turn = 0;
  return async (...given) => {
    const mine = ++turn;
    let said;
    try { said = await ask(...given); } catch (error) { throw mine === turn ? error : new Superseded(); }
    if (mine !== turn) throw new Superseded();
    return said;
  };
};

export const trying = (work, failed = (error) => notice(error.message)) => async (event) => {
  try { await work(event); } catch (error) { if (!(error instanceof Superseded)) failed(error); }
};

// One tooltip for all that has `data-tip`: on hover and on focus, so by keyboard too.
export function tooltips() {
  const box = document.getElementById("tooltip");
  let shown = null;
  const show = (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (target === shown) return;
    if (shown) shown.removeAttribute("aria-describedby");
    shown = target;
    box.hidden = !target;
    if (!target) return;
    box.textContent = target.dataset.tip;
    target.setAttribute("aria-describedby", "tooltip");
    const at = target.getBoundingClientRect();
    const room = box.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), window.innerWidth - room.width - 8);
    const below = at.bottom + 6 + room.height < window.innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${below ? at.bottom + 6 : Math.max(4, at.top - room.height - 6)}px`;
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && shown) { box.hidden = true; shown = null; } });
  for (const node of document.querySelectorAll("[data-tip]")) if (!node.matches("button, a, input, select")) node.tabIndex = 0;
}

// The table behind a chart, made when it is opened and while it is.
export function dataTable(name, rows) {
  const details = document.querySelector(`details[data-for="${name}"]`);
  const draw = () => {
    if (!details.open) return;
    const [head, ...body] = rows();
    fill(details.querySelector("table"),
      el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, cell)))),
      el("tbody", {}, body.map((row) => el("tr", {}, row.map((cell) => el("td", { class: typeof cell === "string" ? "url" : "n" }, cell === null ? "–" : typeof cell === "number" ? String(Math.round(cell * 1000) / 1000) : cell))))));
  };
  details.addEventListener("toggle", draw);
  return draw;
}

export function later(work, wait) {
  let waiting = 0;
  return (...given) => { clearTimeout(waiting); waiting = setTimeout(() => work(...given), wait); };
}

// At once, then no more often than every `wait` ms, and once more for what came meanwhile.
export function seldom(work, wait) {
  let waiting = 0;
  let again = false;
  const run = () => { waiting = setTimeout(() => { waiting = 0; if (again) { again = false; run(); } }, wait); work(); };
  return () => { if (waiting) again = true; else run(); };
}

// Rows by key: what stays stays where it is, so that a button under the pointer, or in focus, is not replaced.
export function rows(body, items, key, make, version = (item) => JSON.stringify(item)) {
  const known = new Map([...body.children].map((row) => [row.dataset.id, row]));
  const wanted = [];
  for (const item of items) {
    const id = String(key(item));
    const said = version(item);
    let row = known.get(id);
    if (!row || row.clewSaid !== said) {
      const fresh = make(item);
      fresh.dataset.id = id;
      fresh.clewSaid = said;
      if (row && row.contains(document.activeElement)) {
        const place = [...row.querySelectorAll("button, a")].indexOf(document.activeElement);
        row.replaceWith(fresh);
        fresh.querySelectorAll("button, a")[place]?.focus();
      }
      row = fresh;
    }
    wanted.push(row);
  }
  wanted.forEach((row, at) => { if (body.children[at] !== row) body.insertBefore(row, body.children[at] ?? null); });
  while (body.children.length > wanted.length) body.lastElementChild.remove();
}

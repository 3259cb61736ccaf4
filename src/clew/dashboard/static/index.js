import { count, fixed, get, tooltips, trying } from "./dom.js";

tooltips();
const table = document.getElementById("crawls");

const look = trying(async () => {
  for (const crawl of await get("/api/overview")) {
    const row = table.querySelector(`tr[data-key="${CSS.escape(crawl.key)}"]`);
    if (!row) continue;
    const say = (what, text) => { row.querySelector(`[data-is="${what}"]`).textContent = text; };
    say("status", crawl.status);
    if (crawl.why) { say("formula", crawl.why); continue; }
    say("formula", crawl.formula);
    say("finds", count(crawl.finds));
    say("pages", count(crawl.pages));
    say("harvest", fixed(crawl.harvest));
  }
});

if (table) { look(); setInterval(look, 3000); }

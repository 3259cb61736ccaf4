import { count, fixed, get, notice, tooltips, trying } from "./dom.js";

tooltips();
let lost = false;

const look = trying(async () => {
  const crawls = await get("/api/overview");
  lost = false;
  const rows = new Map([...document.querySelectorAll("#crawls tr[data-key]")].map((row) => [row.dataset.key, row]));
  // One was begun, or is gone.
  if (crawls.length !== rows.size || crawls.some(({ key }) => !rows.has(key))) { location.reload(); return; }
  for (const crawl of crawls) {
    const cell = (what) => rows.get(crawl.key).querySelector(`[data-is="${what}"]`);
    const say = (what, text) => { cell(what).textContent = text; };
    say("status", crawl.status);
    cell("formula").classList.toggle("why", Boolean(crawl.why));
    if (crawl.why) { say("formula", crawl.why); continue; }
    say("formula", crawl.formula);
    say("finds", count(crawl.finds));
    say("pages", count(crawl.pages));
    say("harvest", fixed(crawl.harvest));
  }
}, () => { if (!lost) notice("The dashboard does not answer: was it stopped? What is shown is how it was last."); lost = true; });

look();
setInterval(look, 3000);

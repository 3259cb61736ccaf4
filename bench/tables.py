"""The tables of docs/benchmarks.md, each from the figures of one benchmark, all from one run.

A table stands in the document between `<!-- NAME -->` and `<!-- /NAME -->`; what is between is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from clew.lab.reproduce.document import fill

Figures = Any


def filled(document: str, results: Mapping[str, dict[str, Any]], names: Iterable[str]) -> str:
    """The document with all its tables made anew. Refuses results that are not all of one run and commit."""
    names = list(names)
    missing = [name for name in names if "run" not in results.get(name, {}).get("stamp", {})]
    if missing:
        raise SystemExit(f"there are no results of a whole run for {', '.join(missing)}: run `make bench`")
    runs = {(results[name]["stamp"]["run"], results[name]["stamp"]["commit"]) for name in names}
    if len(runs) != 1:
        raise SystemExit(f"the results are of {len(runs)} runs, which are not put together: run `make bench`")
    made = {name: MAKERS[name](results[name]["figures"]) for name in names if name in MAKERS}
    return fill(document, {"stamp": stamped([results[name]["stamp"] for name in names]), **made})


def stamped(stamps: list[dict[str, Any]]) -> str:
    """Where the figures come from, in a sentence."""
    first, loads = stamps[0], [one["load"] for one in stamps if one["load"] is not None]
    load = f", load {min(loads)} to {max(loads)} before each" if loads else ""
    return (
        f"Measured on {first['run'][:10]}, commit `{first['commit']}`, by `make bench` in one run: "
        f"{first['cores']} cores of {first['processor']}, Python {first['python']}{load}.\n"
    )


def table(heads: str, rows: Iterable[Iterable[object]]) -> str:
    """Markdown; `heads` are separated by bars."""
    names = [head.strip() for head in heads.split("|")]
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def walk(found: Figures) -> str:
    return table(
        "web | strategy | source files | Python calls | of them clew's own",
        (
            (
                one["web"],
                one["strategy"],
                f"{one['files']:g}",
                f"{one['calls']:,.0f}",
                f"{one['calls_in_clew']:,.0f}",
            )
            for one in found
        ),
    )


def dashboard(found: Figures) -> str:
    first, again, crawling = found["first_look"], found["second_look"], found["crawling"]
    error = crawling["ratio_standard_error"]
    most = max(one["update_ms_most"] for one in (first, again, crawling))
    return table(
        "of the dashboard | is",
        (
            ("pages and candidates of the crawl", f"{found['pages']:,}, {found['candidates']:,}"),
            ("first paint", f"{first['first_paint']:.2f} s; again {again['first_paint']:.2f} s"),
            (
                "figures and curve there",
                f"{first['figures_and_curve']:.2f} s; again {again['figures_and_curve']:.2f} s",
            ),
            ("all of it taken in", f"{first['all_taken_in']:.1f} s"),
            ("server time of an update, while it crawls", f"{crawling['update_ms_median']:.1f} ms"),
            ("the longest", f"{most:.1f} ms"),
            (
                "the crawl's pages a CPU-second, page open ÷ closed",
                f"{crawling['ratio']:.3f}{'' if error is None else f' ± {error:.3f}'}",
            ),
        ),
    )


def browser(found: Figures) -> str:
    first = found[0]["pages_per_cpu_second"]
    return table(
        "with | pages | CPU-seconds | pages a CPU-second | times the CPU",
        (
            (
                one["with"],
                one["pages"],
                f"{one['cpu_seconds']:.2f}",
                f"{one['pages_per_cpu_second']:.2f}",
                f"{first / one['pages_per_cpu_second']:.1f}",
            )
            for one in found
        ),
    )


def parse_speed(found: Figures) -> str:
    rows = ((stage.strip(), f"{ms:.3f}") for stage, ms in found["ms"].items())
    said = f"{found['pages']} pages of {found['kb']} KB with {found['links']} links on average."
    return f"{table('stage | ms a page', rows)}\n{said}\n"


def robots_speed(found: Figures) -> str:
    return table(
        "robots.txt | files | ms, median | ms, most",
        ((one["what"], f"{one['files']:,}", one["ms_median"], one["ms_max"]) for one in found),
    )


def topics(found: Figures) -> str:
    rows = (
        (
            *(one["kind"], one["examples"], _mean(one["auc"]), one["least_auc"]),
            *(_mean(one["calibration_error"]), one["subjects"]),
        )
        for one in found["quality"]
    )
    told = found["speed"]
    said = (
        f"{told['topics']} topics of {told['documents']} documents each were trained in "
        f"{told['train_seconds']} s; a page is scored for all of them in {told['page_milliseconds']} ms, "
        f"{told['share_of_parsing']} of what parsing it takes."
    )
    heads = "kind | examples | mean AUC [95 %] | least AUC | calibration error [95 %] | subjects"
    return f"{table(heads, rows)}\n{said}\n"


def recall(found: Figures) -> str:
    named = ("runs", "topics", "covered", "covered_at_looks", "stopped", "reached", "median_cost")
    rows = ((name, *("–" if one[key] is None else one[key] for key in named)) for name, one in found.items())
    heads = "crawls | runs | topics | truth in the 90 % interval | at every look | stopped | 0.8 reached"
    return table(f"{heads} | requests, of the oracle's (median)", rows)


def interests(found: Figures) -> str:
    named = ("trios", "interests", "each_median", "each_reached", "together")
    rows = (
        (name, *(one[key] for key in named), " to ".join(map(str, one["together_interval"])))
        for name, one in found.items()
    )
    heads = "interests, share, web | trios | interests | each, of alone (median) | with at least 0.9 of it"
    return table(f"{heads} | together, of three crawls | [95 %]", rows)


def tunnelling(found: Figures) -> str:
    parts = []
    for kind in found:
        ways = list(kind["formulas"][0]["finds"])
        finds = [(one["formula"], *(one["finds"][way] for way in ways)) for one in kind["formulas"]]
        rows = [(one["way"], _mean(one["ratio"]), one["least"], one["changes"]) for one in kind["ways"]]
        heads = f"{kind['kind']} formula on {kind['web']}, finds | {' | '.join(ways)}"
        parts.append(table(heads, finds))
        parts.append(
            table("way | finds, of those without tunnelling [95 %] | least | changes of focus", rows)
        )
    return "\n".join(parts)


def confidence(found: Figures) -> str:
    rows = [
        (one["web"], one["strategy"], _number(one["off"]), _number(one["on"]), _ratio(one), one["topics"])
        for one in (found if isinstance(found, list) else [found])
    ]
    return table("web | strategy | nAUC without | with | ratio [95 %] | topics", rows)


def _ratio(one: Mapping[str, Any]) -> str:
    return "–" if one["ratio"] is None else _mean([one["ratio"], *one["interval"]])


def climbing(found: Figures) -> str:
    rows = [
        (one["web"], len(one["topics"]), _mean(one["ratio"]), one["least"], one["all"], one["changes"])
        for one in found
    ]
    heads = (
        "web | topics | finds, of those without tunnelling [95 %] | least | of all finds | changes of focus"
    )
    return table(heads, rows)


def _mean(found: list[float]) -> str:
    return f"{found[0]:.3f} [{found[1]:.3f}, {found[2]:.3f}]"


def visits(found: Figures) -> str:
    told = {one["what"]: one for one in found}
    rows = [
        (
            *(f"{told['import']['lines']:,}", f"{told['import']['lines_per_cpu_s']:,}", told["import"]["MB"]),
            *(f"{told['read']['visits']:,}", told["read"]["cpu_s"], told["page"]["ratio"]),
            f"{100 * told['scoring']['added']:.0f} %",
        )
    ]
    heads = "lines | lines a CPU-s | MB | visits read | CPU-s to read them | a page with a log / without"
    return table(f"{heads} | what scoring by it adds to a page", rows)


def learning_memory(found: Figures) -> str:
    rows = ((f"{pages:,}", f"{size:.0f} MB") for pages, size in found["curve"])
    return f"{table('pages | RSS', rows)}\nBeyond 5,000 pages, {found['bytes_a_page']:,} bytes a page.\n"


def frontier_memory(found: Figures) -> str:
    first = found[0]["seconds_per_page"]
    return table(
        "candidates | RSS before | RSS after | bytes each | time per page",
        (
            (
                f"{one['candidates']:,}",
                f"{one['rss_before'] / 2**20:.0f} MB",
                f"{one['rss_after'] / 2**20:.0f} MB",
                f"{one['bytes_per_candidate']:.0f}",
                f"{one['seconds_per_page'] / first:.2f}",
            )
            for one in found
        ),
    )


def exact(found: Figures) -> str:
    alike, equal = (f"{found[a]:,} of {found[b]:,}" for a, b in (("alike", "of"), ("equal", "rows")))
    return (
        f"{alike} choices, with their scores to the last bit, are those made when every candidate is scored\n"
        f"anew after every page; after {found['loops']} pages by the naive loop, too, which gave the same\n"
        f"numbers for {equal} candidates.\n"
    )


def topic_driven_cost(found: Figures) -> str:
    first = found[0]["ms"]
    return table(
        "candidates | pages fetched | learn, score, file, choose | ratio",
        (
            (
                f"{one['candidates']:,.0f}",
                f"{one['pages']:,}",
                f"{one['ms']:.2f} ms",
                f"{one['ms'] / first:.2f}",
            )
            for one in found
        ),
    )


def reprioritise(found: Figures) -> str:
    first = found[0]["ms"]
    return table(
        "candidates | pages fetched | all of settle and lease | of it learn, score, file, choose | ratio | "
        "audited choices that were the true best",
        (
            (
                f"{one['candidates']:,.0f}",
                f"{one['pages']:,}",
                f"{one['settle_lease_ms']:.2f} ms",
                f"{one['ms']:.2f} ms",
                f"{one['ms'] / first:.2f}",
                f"{one['best']:.2%} of {one['audits']:,}",
            )
            for one in found
        ),
    )


def resume(found: Figures) -> str:
    share = {"crawling": 1.0, **found["of_crawling"]}
    rows = [
        (way.replace("_", " "), f"{seconds:.3f}", f"{share[way]:.1%}")
        for way, seconds in found["per_1000_pages"].items()
    ]
    made = found["seconds"]["making_checkpoint"]
    said = f"{found['pages']:,} pages, {found['candidates']:,} candidates; a checkpoint of "
    said += f"{found['checkpoint_mb']} MB takes {made} s to make."
    return f"{table('way | seconds for 1,000 pages | of crawling them', rows)}\n{said}\n"


def steering(found: Figures) -> str:
    rows = []
    for one in found:
        for name, key, prefix in (
            ("weights", "weights", ""),
            ("a formula", "formula", ""),
            ("a formula, all taught", "formula", "taught_"),
        ):
            cost = one[key]
            if f"{prefix}seconds" in cost:
                rows.append(
                    (
                        *(one["strategy"], f"{one['candidates']:,}", name, f"{cost[f'{prefix}seconds']:.2f}"),
                        *(f"{cost[f'{prefix}cpu_seconds']:.2f}", f"{cost[f'{prefix}longest_gap']:.2f}"),
                        *(f"{cost['longest_gap_before']:.2f}", cost[f"{prefix}pages_meanwhile"]),
                    )
                )
    heads = "strategy | candidates | steered to | seconds | CPU seconds | longest gap, s | before, s | pages"
    return table(heads, rows)


def soak(found: Figures) -> str:
    rows = {
        "memory, MB": found["rss_mb_by_third"],
        "file descriptors, at most": found["files_by_third"],
        "threads, at most": found["threads_by_third"],
        "write-ahead log, MB, at most": found["wal_mb_by_third"],
    }
    said = f"{found['pages']:,} pages in {found['seconds']} s, `clew.log` {found['log_mb']} MB at the end."
    cells = ((name, *values) for name, values in rows.items())
    return f"{table('of the crawl | first third | second | last', cells)}\n{said}\n"


def speed(found: Figures) -> str:
    times, ours = found["compare"], found["compare"][found["strategy"]]
    rows = [
        (
            name if name not in found["memory"] else f"clew, everything ({name})",
            f"{cpu:.2f}",
            f"{cpu / ours:.2f}",
        )
        for name, cpu in times.items()
    ]
    more = [
        (
            f"clew ({name})",
            f"{found['memory'][name]:.0f} MB",
            f"{found['stalls'][name]['cpu_ms']:.0f} ms",
            f"{found['stalls'][name]['wall_ms']:.0f} ms",
        )
        for name in found["memory"]
    ]
    heads = f"CPU-seconds per 1,000 pages | | times clew ({found['strategy']})"
    other = "| | peak memory at 5,000 pages | longest stall, CPU | by the wall".removeprefix("| ")
    two = f"Two crawls at once fetched {found['two']['ratio']:.2f} times the pages of one in the same time."
    return f"{table(heads, ((a, b, c) for a, b, c in rows))}\n{table(other, more)}\n{two}\n"


def factors(found: Figures) -> str:
    parts = []
    for one in found:
        of = f"{one['crawls']} crawls, {one['pages']:,} pages, {one['finds']:.0%} finds"
        cells = (
            (r["factor"], f"{r['size']:.2f}", f"{r['outcome']:.2f}", f"{r['weight']:.2f}", r["alike"])
            for r in one["factors"]
        )
        rows = table("factor | mean absolute log ratio | with outcome | weight | most alike", cells)
        parts.append(f"{one['corpus']}, {of}:\n\n{rows}")
    return "\n".join(parts)


def reuse(found: Figures) -> str:
    kinds = {"same": "the same", "other": "something unrelated", "unrelated": "something unrelated"}
    ratios = table(
        "knowledge of | in the first | finds, mean | without | ratio, 95 % interval",
        (
            (
                kinds.get(one["kind"], one["kind"]),
                one["budget"],
                f"{one['finds']:.1f}",
                f"{one['without']:.1f}",
                "{:.2f} [{:.2f}, {:.2f}]".format(*one["ratio"]) if one["ratio"] else "",
            )
            for one in found["ratios"]
        ),
    )
    last = len(found["budgets"]) - 1
    named = [key for key in found["topics"][0] if key not in ("topic", "pages", "found_before")]
    topics = table(
        f"the word (stem) | pages | found before | {' | '.join(named)}",
        (
            (one["topic"], one["pages"], one["found_before"], *(f"{one[kind][last]:.1f}" for kind in named))
            for one in found["topics"]
        ),
    )
    return f"{ratios}\nIn the first {found['budgets'][last]} requests, by topic:\n\n{topics}"


def learning(found: Figures) -> str:
    parts = []
    for one in found:
        for each in one["tables"]:
            rows = table(
                f"strategy | nAUC | 95 % | recall | p against {each['baseline']}",
                (
                    (
                        row["strategy"],
                        _number(row["nauc"]),
                        f"{_number(row['low'])}–{_number(row['high'])}",
                        _number(row["recall"]),
                        "" if row["p"] is None else f"{row['p']:.4f}",
                    )
                    for row in each["rows"]
                ),
            )
            command = f"`clew lab run experiments/{one['experiment']}.toml`"
            parts.append(f"{each['setting']}, {each['budget']} requests ({command}):\n\n{rows}")
    return "\n".join(parts)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


#: Benchmarks with a place in the document, and how their figures are put.
MAKERS: dict[str, Callable[[Figures], str]] = {
    "browser": browser,
    "climbing": climbing,
    "confidence": confidence,
    "dashboard": dashboard,
    "exact": exact,
    "factors": factors,
    "frontier_memory": frontier_memory,
    "interests": interests,
    "learning": learning,
    "learning_memory": learning_memory,
    "parse_speed": parse_speed,
    "reprioritise": reprioritise,
    "reuse": reuse,
    "robots_speed": robots_speed,
    "resume": resume,
    "steering": steering,
    "soak": soak,
    "speed": speed,
    "recall": recall,
    "topic_driven_cost": topic_driven_cost,
    "topics": topics,
    "tunnelling": tunnelling,
    "visits": visits,
    "walk": walk,
}

"""`run_experiment`: every case with every strategy, in as many processes as there are cores.

Each job is a function of the plan and two numbers, so that neither the number of workers nor the order in
which they finish shows in the results. Only the parent writes. What is finished is not done again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import xxhash

from clew.errors import ClewError
from clew.lab import oracle as oracles
from clew.lab.experiment import Experiment, StrategySpec
from clew.lab.experiment_plan import Case, ExperimentPlan, make_strategy
from clew.lab.predicates import Blind
from clew.lab.results import Oracle, Results, RunResult, measured
from clew.lab.simulate import simulate
from clew.lab.workers import map_in_processes
from clew.policy.tunnel import TunnelRules
from clew.strategy import find

Job = tuple[int, int, int]
"""The number of a case, the number of a strategy or -1 for the oracle, and the throw of the dice, from 1; 0
where there are no dice."""
Done = tuple[RunResult | Oracle, float]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ExperimentProgress:
    """How far an experiment is."""

    done: int
    total: int
    last: str


def run_experiment(
    experiment: Experiment,
    directory: Path,
    *,
    workers: int | None = None,
    fresh: bool = False,
    tell: Callable[[ExperimentProgress], None] = lambda progress: None,
) -> Results:
    """Run what is not finished yet, and arrange the results.

    Parameters: the directory for the results; the number of processes, by default one a core; `fresh`, to
    forget what is there; `tell`, called after every job.
    """
    for spec in experiment.strategies:  # a mistake in the last of them should show now, not in an hour
        make_strategy(spec, Blind("", frozenset()), 0)
    results = Results(directory)
    if fresh:
        results.clear()
    plan = ExperimentPlan(experiment)
    cases, strategies = range(len(plan.cases)), range(len(experiment.strategies))
    everything = [(c, -1, 0) for c in cases]
    everything += [(c, s, t) for c in cases for s in strategies for t in _throws(experiment, s)]
    results.begin(experiment, [_key_of(plan, job) for job in everything])
    known: dict[str, Oracle] = results.oracles()
    finished: dict[str, RunResult] = results.runs()
    left = [job for job in everything if _key_of(plan, job) not in (known if job[1] < 0 else finished)]
    done = len(everything) - len(left)
    for phase in ([job for job in left if job[1] < 0], [job for job in left if job[1] >= 0]):
        for item, cpu in _perform(plan, phase, known, workers or os.cpu_count() or 1):
            results.add(item)
            if isinstance(item, Oracle):
                known[item.key] = item
            else:
                finished[item.key] = item
                results.time(item.key, item.pages, cpu)
            done += 1
            tell(ExperimentProgress(done, len(everything), _name(item)))
    results.arrange(
        [finished[_key_of(plan, job)] for job in everything if job[1] >= 0],
        [known[_key_of(plan, job)] for job in everything if job[1] < 0],
    )
    return results


def _throws(experiment: Experiment, strategy: int) -> range:
    """The throws a case is run with. A strategy without dice is run once: every run would be the same."""
    dice = find(experiment.strategies[strategy].name).capabilities.throws
    return range(1, experiment.dice + 1) if dice else range(1)


# jobs, in whatever process

_plan: ExperimentPlan | None = None


def _work(job: Job, known: Oracle | None) -> Done:
    assert _plan is not None
    try:
        return do_oracle(_plan, job) if known is None else do_run(_plan, job, known)
    except ClewError:
        raise
    except Exception as error:
        who = _plan.experiment.strategies[job[1]].label if known else "the oracle"
        case = _plan.cases[job[0]].name
        raise ClewError(f"{who} failed in {case}: {type(error).__name__}: {error}") from error


def do_oracle(plan: ExperimentPlan, job: Job) -> Done:
    """What could be found in a case."""
    case = plan.cases[job[0]]
    field = plan.field(case)
    parsed_web, mask, budget = field.parsed_web, field.mask(case.topic), plan.experiment.longest
    seeds = [parsed_web.number[seed] for seed in case.seeds]
    reachable = oracles.distinct(mask & parsed_web.graph.reach(seeds), parsed_web.originals)
    finds = oracles.achievable(
        parsed_web.graph, mask, seeds, budget, origins=parsed_web.origins, originals=parsed_web.originals
    )
    limit = oracles.bound(parsed_web.graph, mask, seeds, budget, robots=parsed_web.robots)
    steps = tuple(at for at, more in enumerate(_rises(limit), start=1) for _ in range(more))
    key = _key_of(plan, job)
    targets = oracles.distinct(mask, parsed_web.originals)
    return Oracle(
        key=key, case=case.name, targets=targets, reachable=reachable, finds=finds, bound=steps
    ), 0.0


def do_run(plan: ExperimentPlan, job: Job, known: Oracle) -> Done:
    """One strategy in one case."""
    case, spec = plan.cases[job[0]], plan.experiment.strategies[job[1]]
    budget = plan.experiment.longest
    predicate = plan.predicate(case)
    strategy = plan.strategy(case, spec, predicate, job[2])
    course = simulate(
        plan.field(case).parsed_web,
        predicate,
        strategy,
        case.seeds,
        budget,
        traps=plan.experiment.traps,
        batch=spec.batch,
        tunnel=None if spec.tunnel == "off" else TunnelRules(way=spec.tunnel),
        prune=spec.prune,
        confidence=spec.confidence,
    )
    run = RunResult(
        key=_key_of(plan, job),
        corpus=case.corpus.name,
        start=case.start,
        topic=case.topic.name,
        set=case.number,
        throw=job[2],
        strategy=spec.label,
        budget=budget,
        targets=known.targets,
        reachable=known.reachable,
        requests=course.requests,
        pages=course.pages,
        failed=course.failed,
        hosts=course.hosts,
        stop=course.stop,
        finds=course.finds,
        given=tuple(
            at for at, url in zip(course.finds, course.found, strict=True) if url in frozenset(case.seeds)
        ),
        parts=course.parts,
        **measured(course.finds, known, budget),  # type: ignore[arg-type]
    )
    return run, course.cpu


def _rises(values: Sequence[int]) -> list[int]:
    return [after - before for before, after in zip((0, *values), values, strict=False)]


def _key_of(plan: ExperimentPlan, job: Job) -> str:
    spec = plan.experiment.strategies[job[1]] if job[1] >= 0 else None
    case = plan.cases[job[0]]
    return run_key(plan.experiment, case, spec, job[2], plan.field(case).mark)


def run_key(
    experiment: Experiment, case: Case, spec: StrategySpec | None, throw: int = 0, mark: str = ""
) -> str:
    """A name for everything a run depends on; another budget, seed or option is another run."""
    rules = (experiment.predicate, experiment.traps) if spec else ()
    # Where the files of a corpus lie is nothing to a run; `mark` is what is in them.
    corpus = case.corpus.model_copy(update={"path": "", "labels": "", "entry": ()})
    told = (
        experiment.seed,
        experiment.longest,
        rules,
        replace(case, corpus=corpus),
        *([mark] if mark else []),
    )
    # What was run before there were these has the key it had.
    later = {"batch": 1, "confidence": None, "prune": False, "tunnel": "off", "visits": ""}
    unused = {name for name, value in later.items() if spec and getattr(spec, name) == value}
    strategy = spec.model_dump_json(exclude=unused) if spec else "oracle"
    thrown = "" if throw <= 1 else f"/throw {throw}"
    return f"{xxhash.xxh3_64_intdigest(f'{told!r}/{strategy}{thrown}'.encode()):016x}"


def _name(item: RunResult | Oracle) -> str:
    return f"{item.case}: " + (item.strategy if isinstance(item, RunResult) else "oracle")


# processes


def _perform(
    plan: ExperimentPlan, jobs: Sequence[Job], known: dict[str, Oracle], workers: int
) -> Iterator[Done]:
    """Do the jobs, in this process or in several; results come as they are ready."""
    global _plan
    if not jobs:
        return
    _plan = plan
    for field in plan.fields.values():
        _ = field.parsed_web.graph  # parses every page, once, before there are several processes
    try:
        if workers <= 1:
            for job in jobs:
                yield _work(job, _oracle_for(plan, job, known))
            return
        yield from _in_processes(plan, jobs, known, min(workers, len(jobs)))
    finally:
        _plan = None


def _in_processes(
    plan: ExperimentPlan, jobs: Sequence[Job], known: dict[str, Oracle], workers: int
) -> Iterator[Done]:
    calls = [(job, _oracle_for(plan, job, known)) for job in jobs]
    return map_in_processes(_work, calls, workers, _prepare, plan.experiment.model_dump_json())


def _oracle_for(plan: ExperimentPlan, job: Job, known: dict[str, Oracle]) -> Oracle | None:
    return known[_key_of(plan, (job[0], -1, 0))] if job[1] >= 0 else None


def _prepare(given: str) -> None:
    """A worker that was not forked makes its own plan."""
    global _plan
    _plan = ExperimentPlan(Experiment.model_validate_json(given))

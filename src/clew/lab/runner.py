"""`run_experiment`: every case with every strategy, in as many processes as there are cores.

Each job is a function of the plan and two numbers, so that neither the number of workers nor the order in
which they finish shows in the results. Only the parent writes. What is finished is not done again.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import TypeVar

import xxhash

from clew.errors import ClewError
from clew.lab import oracle as oracles
from clew.lab.experiment import Experiment, StrategySpec
from clew.lab.plan import Case, Plan, make_strategy
from clew.lab.predicates import Blind
from clew.lab.results import Oracle, Results, Run, measured
from clew.lab.simulate import simulate

Job = tuple[int, int]
"""The number of a case, and the number of a strategy or -1 for the oracle."""
Done = tuple[Run | Oracle, float]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Progress:
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
    tell: Callable[[Progress], None] = lambda progress: None,
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
    plan = Plan(experiment)
    everything = [(c, -1) for c in range(len(plan.cases))]
    everything += [(c, s) for c in range(len(plan.cases)) for s in range(len(experiment.strategies))]
    results.begin(experiment, [_key_of(plan, job) for job in everything])
    known: dict[str, Oracle] = results.oracles()
    finished: dict[str, Run] = results.runs()
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
            tell(Progress(done, len(everything), _name(item)))
    results.arrange(
        [finished[_key_of(plan, job)] for job in everything if job[1] >= 0],
        [known[_key_of(plan, job)] for job in everything if job[1] < 0],
    )
    return results


# jobs, in whatever process

_plan: Plan | None = None


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


def do_oracle(plan: Plan, job: Job) -> Done:
    """What could be found in a case."""
    case = plan.cases[job[0]]
    field = plan.field(case)
    arena, mask, budget = field.arena, field.mask(case.topic), plan.experiment.longest
    seeds = [arena.number[seed] for seed in case.seeds]
    reachable = int((mask & arena.graph.reach(seeds)).sum())
    finds = oracles.achievable(arena.graph, mask, seeds, budget, arena.origins)
    limit = oracles.bound(arena.graph, mask, seeds, budget, robots=arena.robots)
    steps = tuple(at for at, more in enumerate(_rises(limit), start=1) for _ in range(more))
    key = _key_of(plan, job)
    targets = int(mask.sum())
    return Oracle(
        key=key, case=case.name, targets=targets, reachable=reachable, finds=finds, bound=steps
    ), 0.0


def do_run(plan: Plan, job: Job, known: Oracle) -> Done:
    """One strategy in one case."""
    case, spec = plan.cases[job[0]], plan.experiment.strategies[job[1]]
    budget = plan.experiment.longest
    predicate = plan.predicate(case)
    strategy = plan.strategy(case, spec, predicate)
    course = simulate(
        plan.field(case).arena, predicate, strategy, case.seeds, budget, traps=plan.experiment.traps
    )
    run = Run(
        key=_key_of(plan, job),
        corpus=case.corpus.name,
        start=case.start,
        topic=case.topic.name,
        set=case.number,
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
        parts=course.parts,
        **measured(course.finds, known, budget),  # type: ignore[arg-type]
    )
    return run, course.cpu


def _rises(values: Sequence[int]) -> list[int]:
    return [after - before for before, after in zip((0, *values), values, strict=False)]


def _key_of(plan: Plan, job: Job) -> str:
    spec = plan.experiment.strategies[job[1]] if job[1] >= 0 else None
    return run_key(plan.experiment, plan.cases[job[0]], spec)


def run_key(experiment: Experiment, case: Case, spec: StrategySpec | None) -> str:
    """A name for everything a run depends on; another budget, seed or option is another run."""
    rules = (experiment.predicate, experiment.traps) if spec else ()
    told = (experiment.seed, experiment.longest, rules, case)
    strategy = spec.model_dump_json() if spec else "oracle"
    return f"{xxhash.xxh3_64_intdigest(f'{told!r}/{strategy}'.encode()):016x}"


def _name(item: Run | Oracle) -> str:
    return f"{item.case}: " + (item.strategy if isinstance(item, Run) else "oracle")


# processes


def _perform(plan: Plan, jobs: Sequence[Job], known: dict[str, Oracle], workers: int) -> Iterator[Done]:
    """Do the jobs, in this process or in several; results come as they are ready."""
    global _plan
    if not jobs:
        return
    _plan = plan
    for field in plan.fields.values():
        _ = field.arena.graph  # parses every page, once, before there are several processes
    try:
        if workers <= 1:
            for job in jobs:
                yield _work(job, _oracle_for(plan, job, known))
            return
        yield from _in_processes(plan, jobs, known, min(workers, len(jobs)))
    finally:
        _plan = None


def _in_processes(plan: Plan, jobs: Sequence[Job], known: dict[str, Oracle], workers: int) -> Iterator[Done]:
    fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if fork else "spawn")
    if fork:
        gc.collect()
        gc.freeze()  # so that collecting garbage does not copy every page into every worker
    given = None if fork else plan.experiment.model_dump_json()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare, initargs=(given,))
    try:
        futures: list[Future[Done]] = [pool.submit(_work, job, _oracle_for(plan, job, known)) for job in jobs]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool:
        raise ClewError(
            "a worker process ended unexpectedly (out of memory?): run it again to go on"
        ) from None
    finally:
        processes = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        if fork:
            gc.unfreeze()


def _oracle_for(plan: Plan, job: Job, known: dict[str, Oracle]) -> Oracle | None:
    return known[_key_of(plan, (job[0], -1))] if job[1] >= 0 else None


def _prepare(given: str | None) -> None:
    """A worker leaves Ctrl-C to its parent; where it was not forked, it makes its own plan."""
    global _plan
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, name="clew-parent", daemon=True).start()
    if given is not None:
        _plan = Plan(Experiment.model_validate_json(given))


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they see to it themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

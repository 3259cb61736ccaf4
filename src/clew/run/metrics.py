"""A Prometheus endpoint on the loopback address, reading the crawl's tally when it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clew.errors import ConfigError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from clew.messages import Effect
    from clew.run.observe import Progress

ADDRESS = "127.0.0.1"

#: Metric, attribute of `Progress`, whether it only grows, help.
FIGURES = (
    ("clew_pages", "pages", True, "Pages fetched and judged"),
    ("clew_matches", "matches", True, "Finds: pages that satisfy the predicate and repeat no other"),
    ("clew_requests", "requests", True, "Requests made, robots.txt and redirects counted"),
    ("clew_failed", "failed", True, "Requests that gave no usable reply"),
    ("clew_duplicates", "duplicates", True, "Pages that repeat another"),
    ("clew_received_bytes", "wire", True, "Bytes received"),
    ("clew_audits", "audits", True, "Choices checked against all other candidates"),
    ("clew_audits_best", "best", True, "Choices checked and found to be the best"),
    ("clew_queued", "queued", False, "Candidates waiting"),
    ("clew_in_flight", "in_flight", False, "Requests under way"),
    ("clew_harvest_ratio", "harvest", False, "Finds per page"),
)


class ProgressCollector:
    """Turns a `Progress` into metrics at the moment of a scrape."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def collect(self) -> Iterator[Metric]:
        """What the registry asks for."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        progress = self.progress
        for name, attribute, grows, says in FIGURES:
            family = CounterMetricFamily if grows else GaugeMetricFamily
            yield family(name, says, value=float(getattr(progress, attribute)))
        dropped = CounterMetricFamily("clew_dropped", "Links and candidates left out", labels=["reason"])
        for reason, count in progress.dropped.copy().items():
            dropped.add_metric([reason], float(count))
        yield dropped
        yield GaugeMetricFamily("clew_hosts", "Hosts asked", value=float(len(progress.hosts)))
        spent = progress.elapsed_before + max(0.0, progress.now - progress.started)
        yield CounterMetricFamily("clew_crawl_seconds", "Time spent crawling, over all sessions", value=spent)


class MetricsServer:
    """An observer that serves `http://127.0.0.1:PORT/metrics` while the crawl runs.

    The port is taken when the server is made, so that a port in use is a complaint before the crawl
    begins and not a surprise within it. Port 0 takes any free one; `port` says which.
    """

    def __init__(self, port: int) -> None:
        from prometheus_client import CollectorRegistry, start_http_server

        self.registry = CollectorRegistry(auto_describe=False)
        try:
            server, thread = start_http_server(port, addr=ADDRESS, registry=self.registry)
        except OSError as error:
            raise ConfigError(
                f"metrics-port: {ADDRESS}:{port} cannot be used ({error.strerror}); choose another port"
            ) from None
        self._server: Any = server
        self._thread: Any = thread
        self.port: int = server.server_port

    def started(self, progress: Progress) -> None:
        self.registry.register(ProgressCollector(progress))

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        """Nothing: the tally is read when asked."""

    def finished(self, progress: Progress, reason: str) -> None:
        """Nothing: the last figures stay readable until `close`."""

    def close(self) -> None:
        """Free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

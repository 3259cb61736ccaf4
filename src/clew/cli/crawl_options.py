"""The options of `clew crawl`, as plain data: showing them takes none of what a crawl is made of.

Made from `clew.run.config` by `python tools/settings.py`: change them there.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from clew.cli.option_row import CrawlOption

OPTIONS = (
    CrawlOption(key='match', names=('--match', '-m'), kind='one', value='FORMULA', group='What to find', help='Which pages to find: a formula such as \'"wind farm" AND lang:en\'.', shown=True),
    CrawlOption(key='threshold', names=('--threshold',), kind='one', value='X|start', group='What to find', help="A page whose degree is at least this is a find; start: the least above 0 of the start pages' (0.5).", shown=True),
    CrawlOption(key='semantics', names=('--semantics',), kind='one', value='NAME', group='What to find', help='How degrees combine: minmax, product or weighted (minmax).', shown=True),
    CrawlOption(key='link_formula', names=('--link-formula',), kind='one', value='NAME', group='What to find', help='What links are held against: the whole formula, any of what AND joins, or the rarer of it (whole).', shown=True),
    CrawlOption(key='topics', names=('--topics',), kind='one', value='DIR', group='What to find', help='The folder of the topics that the formula names (topics, if it is there).', shown=True),
    CrawlOption(key='strategy', names=('--strategy',), kind='one', value='NAME', group='What to find', help='Which link next: intelligent, best-first, breadth-first, … (intelligent).', shown=True),
    CrawlOption(key='weights', names=('--weights',), kind='one', value='NAME|NAME=X,…', group='What to find', help="How the parts of the score are weighed: learned, balanced, product, or weights by name (the strategy's own).", shown=True),
    CrawlOption(key='factors', names=('--factors',), kind='many', value='NAME', group='What to find', help='The reasons that intelligent combines; can be repeated (all).', shown=True),
    CrawlOption(key='option', names=('--option',), kind='many', value='NAME=VALUE', group='What to find', help='An option of the strategy; can be repeated.', shown=True),
    CrawlOption(key='use', names=('--use',), kind='many', value='CRAWL|FILE', group='What to find', help='Begin with what earlier crawls learned: their directories, or knowledge files; can be repeated.', shown=True),
    CrawlOption(key='visits', names=('--visits',), kind='one', value='VISITS', group='What to find', help='Go by what people visited, too: a database of clew visits import.', shown=True),
    CrawlOption(key='k', names=('--k',), kind='one', value='N', group='What to find', help='Know of pages only that at least so many people visited (3, at home 1).', shown=True),
    CrawlOption(key='random_seed', names=('--random-seed',), kind='one', value='N', group='What to find', help='The dice: the same number gives the same crawl (0).', shown=True),
    CrawlOption(key='pages', names=('--pages',), kind='one', value='N', group='When to stop', help='Stop after so many pages, fetched and judged (1000).', shown=True),
    CrawlOption(key='matches', names=('--matches',), kind='one', value='N', group='When to stop', help='Stop after so many finds (none).', shown=True),
    CrawlOption(key='time', names=('--time',), kind='one', value='DURATION', group='When to stop', help='Stop after a time such as 90s, 30m or 2h, over all sessions (none).', shown=True),
    CrawlOption(key='bytes', names=('--bytes',), kind='one', value='SIZE', group='When to stop', help='Stop after receiving so much, such as 500MB (none).', shown=True),
    CrawlOption(key='requests', names=('--requests',), kind='one', value='N', group='When to stop', help='Stop after so many requests, robots.txt and redirects counted (none).', shown=True),
    CrawlOption(key='per_host', names=('--per-host',), kind='one', value='N', group='When to stop', help='Fetch at most so many pages from one host (none).', shown=True),
    CrawlOption(key='interest', names=('--interest',), kind='one', value='X', group='When to stop', help='Stop when for 50 pages nothing promised X times what chance gives, and nothing was found (none).', shown=True),
    CrawlOption(key='stop', names=('--stop',), kind='one', value='RULE', group='When to stop', help="Stop when a rule holds, such as 'stale >= 2000 or precision < 0.02 over 500'.", shown=True),
    CrawlOption(key='max_size', names=('--max-size',), kind='one', value='N', group='When to stop', help='Keep the best N candidates at hand; the others wait on disk until there is room (none).', shown=True),
    CrawlOption(key='scope', names=('--scope',), kind='one', value='NAME', group='Where to look', help="Look at all, or stay with the seeds' registrable domain, host or folder (prefix) (all).", shown=True),
    CrawlOption(key='include', names=('--include',), kind='many', value='PATTERN', group='Where to look', help='Only URLs that match a glob or /regex/; can be repeated.', shown=True),
    CrawlOption(key='exclude', names=('--exclude',), kind='many', value='PATTERN', group='Where to look', help='No URLs that match a glob or /regex/; can be repeated.', shown=True),
    CrawlOption(key='depth', names=('--depth',), kind='one', value='N', group='Where to look', help='At most so many links away from the nearest seed; 0 fetches the seeds alone (none).', shown=True),
    CrawlOption(key='types', names=('--types',), kind='one', value='NAME,…', group='Where to look', help='Page types to keep (html,xhtml,text,feed,pdf).', shown=True),
    CrawlOption(key='links', names=('--links',), kind='one', value='NAME', group='Where to look', help='Follow links to pages, or more: URLs in text, scripts, data-, cite and the like, too (pages).', shown=True),
    CrawlOption(key='nofollow', names=('--nofollow',), kind='switch', value='', group='Where to look', help='Leave out single links marked rel=nofollow (false).', shown=True),
    CrawlOption(key='sitemaps', names=('--sitemaps',), kind='one', value='off|robots|on', group='Where to look', help='Read the sitemaps that robots.txt names (robots), or /sitemap.xml where it names none, too (on) (robots).', shown=True),
    CrawlOption(key='traps', names=('--traps',), kind='switch', value='', group='Where to look', help='Leave endless calendars, growing queries, copies, error pages and mirrors alone once recognised (true).', shown=True),
    CrawlOption(key='delay', names=('--delay',), kind='one', value='DURATION', group='How to ask', help='Time between two requests to one host or address (1s).', shown=True),
    CrawlOption(key='concurrency', names=('--concurrency',), kind='one', value='N', group='How to ask', help='Requests in flight at once, over all hosts (16).', shown=True),
    CrawlOption(key='proxy', names=('--proxy',), kind='one', value='URL', group='How to ask', help='An HTTP proxy for every request, http://host:port.', shown=True),
    CrawlOption(key='header', names=('--header',), kind='many', value="'NAME: VALUE'", group='How to ask', help='A header for every request; can be repeated.', shown=True),
    CrawlOption(key='user_agent', names=('--user-agent',), kind='one', value='TEXT', group='How to ask', help='Who asks; say how to reach you (clew/VERSION).', shown=True),
    CrawlOption(key='timeout', names=('--timeout',), kind='one', value='DURATION', group='How to ask', help='Give up on a reply after this, from asking to its last byte (30s).', shown=True),
    CrawlOption(key='max_body', names=('--max-body',), kind='one', value='SIZE', group='How to ask', help='Cut a page after so much, decompressed, and mark it as truncated (10MB).', shown=True),
    CrawlOption(key='allow_private', names=('--allow-private',), kind='many', value='HOST|CIDR', group='How to ask', help='A private host, address or network that may be visited; can be repeated.', shown=True),
    CrawlOption(key='own', names=('--own',), kind='many', value='HOST', group='How to ask', help='A host of your own, which may be asked fast and often; can be repeated.', shown=True),
    CrawlOption(key='ignore_robots', names=('--ignore-robots',), kind='switch', value='', group='How to ask', help='Do not ask hosts of your own for robots.txt (false).', shown=True),
    CrawlOption(key='insecure', names=('--insecure',), kind='many', value='HOST', group='How to ask', help='A host whose TLS certificate is not checked; can be repeated.', shown=True),
    CrawlOption(key='cookies', names=('--cookies',), kind='one', value='off|session', group='How to ask', help='Keep cookies while it runs, each for the origin that set it (off).', shown=True),
    CrawlOption(key='cookie_file', names=('--cookie-file',), kind='one', value='FILE', group='How to ask', help='Cookies of your own to send, in Netscape format.', shown=True),
    CrawlOption(key='fetcher', names=('--fetcher',), kind='one', value='NAME', group='How to ask', help='The way to the web: http, or one that another package brings (http).', shown=True),
    CrawlOption(key='browser', names=('--browser',), kind='many', value='HOST|auto', group='How to ask', help='Render pages of a host ( for all), or those that look empty (auto), in Chromium; can be repeated.', shown=True),
    CrawlOption(key='browser_path', names=('--browser-path',), kind='one', value='FILE', group='How to ask', help='The Chromium or Chrome to use, if it is not on the path (on the path).', shown=True),
    CrawlOption(key='cache', names=('--cache',), kind='one', value='DIR', group='This machine', help='A page cache that several crawls share.', shown=True),
    CrawlOption(key='cache_age', names=('--cache-age',), kind='one', value='DURATION', group='This machine', help='How old a cached page may be (7d).', shown=True),
    CrawlOption(key='batch', names=('--batch',), kind='one', value='N', group='This machine', help='Replies settled together, at most: learned from at once and saved as one; fewer learn sooner (1).', shown=True),
    CrawlOption(key='ordered', names=('--ordered',), kind='switch', value='', group='This machine', help='Settle replies in the order asked, so that a crawl of an unchanged web gives the same trace; slower (false).', shown=True),
    CrawlOption(key='parse_workers', names=('--parse-workers',), kind='one', value='N', group='This machine', help='Processes that parse pages; 0 parses all in the main one (large pages only).', shown=True),
    CrawlOption(key='predicate_timeout', names=('--predicate-timeout',), kind='one', value='DURATION', group='This machine', help='Ask functions that a formula names by py: in a process of their own, and no longer than this for a page (none).', shown=True),
    CrawlOption(key='metrics_port', names=('--metrics-port',), kind='one', value='PORT', group='This machine', help='Serve Prometheus metrics on http://127.0.0.1:PORT/metrics.', shown=True),
    CrawlOption(key='seed', names=('--seed',), kind='one', value='N', group='What to find', help='The dice: the same number gives the same crawl (0).', shown=False),
)

"""The frame of a page: style sheets, the script, and Content-Security-Policies that allow these and nothing else."""

from ..plots import section, theme
from ..plots.figure import DRAW, PLOTLY_NAME, source_of
from ..values.printable import in_html

_SHARED = """
body > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; padding-top: 18px; }
a { color: var(--s0); }
footer a { margin-right: 12px; white-space: nowrap; }
:root { --good: #18794a; --warn: #8f5a00; --bad: #bf2430; --calm: #46566e;
  --good-back: #e3f4ea; --warn-back: #fdf0d4; --bad-back: #fce6e7; --calm-back: #e9edf3; }
@media (prefers-color-scheme: dark) { :root { --good: #5fd397; --warn: #f0bd5b; --bad: #ff8a8f; --calm: #a9b7cc;
  --good-back: #15301f; --warn-back: #382a0c; --bad-back: #3d191c; --calm-back: #262e3a; } }
.banner { border-radius: 8px; padding: 9px 14px; margin: 12px 0 0; overflow-wrap: anywhere; max-width: none; }
.banner.warn { background: var(--warn-back); color: var(--warn); }
.banner.bad { background: var(--bad-back); color: var(--bad); }
.state { display: inline-block; border-radius: 99px; padding: 1px 10px; font-size: 13px; font-weight: 600;
  white-space: nowrap; color: var(--calm); background: var(--calm-back); }
.running, .up { color: var(--good); background: var(--good-back); }
.stalled { color: var(--warn); background: var(--warn-back); }
.failed, .down { color: var(--bad); background: var(--bad-back); }
"""

STYLE = (
    theme.css()
    + _SHARED
    + """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI",
  Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
body > header, main, footer { max-width: 1500px; margin: 0 auto; padding-left: 20px; padding-right: 20px; }
h1 { font-size: 22px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 13px; font-weight: 600; color: var(--soft); text-transform: uppercase; letter-spacing: .06em;
  margin: 26px 0 8px; }
p { margin: 6px 0; }
.soft, small { color: var(--soft); }
small { font-size: 12.5px; }
.summary { margin: 6px 0 0; color: var(--soft); } .summary .state { margin-right: 6px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 10px 0 14px;
  padding: 12px 16px; overflow-x: auto; }
.state { padding-left: 8px; }
.state::before { content: ""; display: inline-block; width: 8px; height: 8px; border-radius: 50%;
  background: currentColor; margin-right: 6px; }
table { border-collapse: collapse; width: 100%; margin-top: 6px; }
th, td { text-align: left; padding: 5px 14px 5px 0; vertical-align: middle; }
th { font-size: 12.5px; font-weight: 500; color: var(--soft); white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { font-size: 15px; font-weight: 600; color: var(--ink); white-space: normal; overflow-wrap: anywhere;
  min-width: 7em; max-width: 18em; }
th:last-child, td:last-child { padding-right: 0; }
.figure { white-space: nowrap; text-align: right; }
.figure b { font-size: 16px; font-weight: 650; }
.stale .figure { color: var(--soft); } .stale .figure b { font-weight: 400; }
.reason { display: block; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; max-width: 34em; }
form { display: flex; flex-wrap: wrap; gap: 8px; margin: 14px 0 0; }
input, select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 5px 10px; } input { flex: 1 1 14em; max-width: 26em; }
th .soft { font-weight: 400; }
tr.part { border: 0; }
.part th { font-size: 13px; font-weight: 600; color: var(--soft); text-transform: uppercase; letter-spacing: .06em;
  padding: 14px 0 6px; max-width: none; }
.member > :first-child { padding-left: 22px; font-weight: 500; }
.fold::before { content: "\\25b8\\00a0"; } .fold[aria-expanded=true]::before { content: "\\25be\\00a0"; }
.pages a { margin-left: 10px; }
.spark { width: 18%; min-width: 190px; }
.spark div { display: flex; align-items: center; gap: 8px; }
.spark small { white-space: nowrap; min-width: 6em; }
svg { display: block; flex: 1; height: 28px; min-width: 120px; width: 100%; fill: none; stroke-width: 1.5; }
svg path { vector-effect: non-scaling-stroke; stroke-linecap: round; stroke-linejoin: round; stroke: currentColor; }
svg .zero { stroke: var(--line); stroke-width: 1; }
svg .top { stroke-width: 5; }
.rate { color: var(--s0); }
pre { margin: 6px 0 12px; padding: 10px 12px; border-radius: 8px; background: var(--calm-back); overflow-x: auto;
  font: 13.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
pre code { user-select: all; font: inherit; } code { font-size: 13.5px; }
summary { cursor: pointer; font-weight: 600; }
ol { margin: 8px 0 0; padding-left: 22px; } li { margin-bottom: 10px; } li::marker { font-weight: 600; }
details.card { margin-top: 26px; }
footer { padding-top: 8px; padding-bottom: 30px; color: var(--soft); }
@media (max-width: 1280px) { .spark div { display: block; } .spark small { display: block; line-height: 1.2; } }
@media (max-width: 1040px) {
  body > header, main, footer { padding-left: 12px; padding-right: 12px; }
  .card { padding: 10px 12px; }
  thead { display: none; }
  table, tbody { display: block; }
  tbody tr { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 4px 8px; padding: 9px 0; }
  th, td { padding: 0; grid-column: span 4; }
  tbody th { grid-column: span 7; max-width: none; }
  .where { grid-column: span 5; text-align: right; }
  .wide { grid-column: 1 / -1; text-align: left; }
  .wide:empty { display: none; }
  .figure { text-align: left; white-space: normal; }
  td[data-label]::before { content: attr(data-label); display: block; font-size: 12px; color: var(--soft); }
  td:empty { display: none; }
  .part th { grid-column: 1 / -1; }
  .spark { grid-column: 1 / -1; width: auto; order: 1; } .spark div { display: flex; }
  .member .tool { display: none; }
}
"""
)

RUN_STYLE = (
    theme.css()
    + section.STYLE
    + _SHARED
    + """
body > header h1 { font-size: 26px; margin: 0; }
body > * { max-width: 1560px; }
section { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 0 16px; }
section > :not(.half) { grid-column: 1 / -1; }
.result { display: flex; flex-wrap: wrap; align-items: start; gap: 0 32px; } .result > .scroll { max-width: 100%; }
h2 { margin: 22px 0 8px; padding-top: 14px; }
.tiles { grid-template-columns: repeat(auto-fill, minmax(148px, 1fr)); margin-top: 14px; }
.tiles dd small { font-size: 13px; font-weight: 400; display: block; white-space: normal; }
.bar { display: block; width: 100%; height: 6px; margin: 12px 0 0; }
.bar rect { fill: var(--line); } .bar .gone { fill: var(--s0); }
main ul { margin: 8px 0; padding-left: 20px; } main ul.keys { padding-left: 0; }
@media print { .bar, footer { display: none; } section { display: block; } }
"""
)

SCRIPT = """
(() => {
  const lost = document.getElementById("lost");
  let busy = false;
  const query = () => {
    const known = [...document.querySelectorAll("[data-version]")].map(part => part.id + ":" + part.dataset.version);
    const asked = new URLSearchParams(location.search);
    asked.set("since", known.join(","));
    return "?" + asked;
  };
  const show = page => {
    const selects = String(getSelection()) !== "";
    for (const part of page.querySelectorAll("main > div[id]")) {
      const shown = document.getElementById(part.id);
      if (selects && getSelection().containsNode(shown, true)) continue;
      if (window.plots) plots.adopt(shown, part);
      shown.replaceWith(part);
      if (window.plots) plots.draw(part.querySelectorAll(".chart"));
    }
  };
  const refresh = async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const answer = await fetch(location.pathname + query(), {cache: "no-store", signal: AbortSignal.timeout(9000)});
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      show(page);
      document.title = page.title;
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
    busy = false;
  };
  const wait = began => {
    const seconds = document.querySelector("[data-seconds]").dataset.seconds;
    setTimeout(again, Math.max(200, seconds * 1000 - (performance.now() - began)));
  };
  const again = async () => {
    const began = performance.now();
    await refresh();
    wait(began);
  };
  wait(performance.now());
  document.addEventListener("visibilitychange", refresh);
})();
"""
"""Fetches the page again every `data-seconds` and replaces its parts, except where the reader has selected text."""

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='4' fill='%231a66c2'/%3E%3Cpath d='M2 11L5 9L7 10L10 4L12 9L14 8' fill='none' stroke='white' "
    "stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"
)


def _policy(scripts: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {source_of(SCRIPT)}{scripts}; style-src {style}; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


CONTENT_SECURITY_POLICY = _policy("", source_of(STYLE))
RUN_POLICY = _policy(f" {source_of(DRAW)} 'self'", "'unsafe-inline'")
"""The policy of a run's page: plotly, which is served here, sets the styles of what it draws."""


def document(
    title: str, style: str, header: str, main: str, footer: str, *, refresh: int = 0, draws: bool = False
) -> str:
    """A whole page; everything but its title is HTML.

    With `refresh` it stays up to date: by its script, or without scripts by loading it again after so many seconds.
    A page of plots `draws` them; it lies a level below the overview.
    """
    again, lost, script = "", "", ""
    if refresh:
        again = f'<noscript><meta http-equiv="refresh" content="{refresh}"></noscript>'
        lost = (
            '<p class="banner bad" id="lost" role="status" hidden>The exporter does not answer. '
            "The figures below are from the time shown.</p>\n"
        )
        script = f"<script>{SCRIPT}</script>"
    if draws:
        script = f'<script src="../{PLOTLY_NAME}"></script><script>{DRAW}</script>{script}'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{again}'
        f'<title>{in_html(title)}</title><link rel="icon" href="{ICON}"><style>{style}</style></head>\n'
        f"<body><header>{header}</header>\n<main>{lost}{main}</main>\n"
        f"<footer><p>{footer}</p></footer>{script}</body></html>\n"
    )

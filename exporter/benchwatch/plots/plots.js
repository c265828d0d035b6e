// Draws the figures of a page (see figure.py). Plots over elapsed time move together: what is pointed at in one is read
// in all, a zoom zooms all, a double click shows everything again. A figure that cannot be drawn says so in its place.
window.plots = (() => {
  const style = getComputedStyle(document.documentElement);
  const touch = matchMedia("(pointer: coarse)").matches;
  const config = {
    displaylogo: false, responsive: true, doubleClick: false,
    modeBarButtons: [["toImage"]], displayModeBar: touch ? false : "hover",
  };
  // What all plots have in common; a name of a colour stands for the page's.
  const clear = "rgba(0,0,0,0)";
  const axis = {gridcolor: "--line", linecolor: "--line", zeroline: false, tickfont: {color: "--soft", size: 11}};
  const title = {font: {size: 11, color: "--soft"}, standoff: 4};
  const base = {
    paper_bgcolor: clear, plot_bgcolor: clear, font: {color: "--ink", size: 12}, uirevision: "kept",
    hoverlabel: {bgcolor: "--card", bordercolor: "--line", namelength: -1},
    legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: {color: "--soft"}},
    modebar: {bgcolor: clear, color: "--soft", activecolor: "--ink"},
  };
  const link = location.hash.match(/^#zoom=([\d.]+),([\d.]+)$/);
  const start = Date.UTC(2000);
  let moment = null, zoom = link && [start + 1000 * link[1], start + 1000 * link[2]], busy = false;

  const themed = value => {
    if (typeof value === "string" && value.startsWith("--")) {
      const [name, strength = ""] = value.split("/");
      return style.getPropertyValue(name).trim() + strength;
    }
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(themed);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, themed(one)]));
  };

  const dressed = figure => {
    const {legend, xaxis, yaxis, ...layout} = figure.layout;
    const [x, y] = [xaxis, yaxis].map(one => ({...axis, ...one, title: {...title, ...one.title}}));
    return {...figure, layout: {...base, ...layout, legend: {...base.legend, ...legend}, xaxis: x, yaxis: y}};
  };

  const coloured = trace => {
    if (trace.type !== "heatmap" || trace.z) return;
    trace.z = trace.customdata.map(row => row.map(count => count > 0 ? Math.log10(count) : null));
  };

  // Milliseconds as a date: plotly takes numbers of four digits for years.
  const dated = ({data, layout}) => {
    if (layout.xaxis.type !== "date") return;
    const date = value => value === null ? null : value + start;
    for (const trace of data) trace.x = trace.x.map(date);
    for (const shape of layout.shapes) {
      if (shape.xref !== "paper") Object.assign(shape, {x0: date(shape.x0), x1: date(shape.x1)});
    }
    layout.xaxis.range = layout.xaxis.range.map(date);
  };

  const linked = except =>
    [...document.querySelectorAll(".canvas[data-time]")].filter(one => one !== except && one.offsetWidth);

  const together = async work => {
    if (busy) return;
    busy = true;
    try { await work(); } finally { busy = false; }
  };

  // The address of the page leads others to what is seen.
  const address = canvas => {
    const seconds = zoom?.map(end => ((canvas._fullLayout.xaxis.d2c(end) - start) / 1000).toFixed(1));
    history.replaceState(null, "", seconds ? `#zoom=${seconds}` : location.pathname + location.search);
  };

  const show = (canvas, range) => Plotly.relayout(canvas, {"xaxis.range": [...(range ?? canvas.whole)]});

  const point = (canvas, moment) => {
    const axis = canvas._fullLayout.xaxis, at = axis.d2c(moment);
    if (at < axis.r2c(axis.range[0]) || at > axis.r2c(axis.range[1])) Plotly.Fx.unhover(canvas);
    else Plotly.Fx.hover(canvas, {xval: at}, ["xy"]);
  };

  const listen = canvas => {
    canvas.on("plotly_hover", event => together(() => {
      moment = event.xvals?.[0] ?? null;
      if (moment !== null) linked(canvas).forEach(one => point(one, moment));
    }));
    canvas.on("plotly_unhover", () => together(() => {
      moment = null;
      linked(canvas).forEach(one => Plotly.Fx.unhover(one));
    }));
    canvas.on("plotly_relayout", event => together(() => {
      const range = event["xaxis.range"] ?? [event["xaxis.range[0]"], event["xaxis.range[1]"]];
      if (range[0] === undefined) return null;
      zoom = range;
      address(canvas);
      return Promise.all(linked(canvas).map(one => show(one, zoom)));
    }));
    canvas.on("plotly_doubleclick", () => together(() => {
      zoom = null;
      address(canvas);
      return Promise.all([canvas, ...linked(canvas)].map(one => show(one, null)));
    }));
  };

  const drawOne = async chart => {
    const [words, source] = [chart.querySelector("p"), chart.querySelector("script")];
    let canvas = chart.querySelector(".canvas");
    try {
      const figure = themed(dressed(JSON.parse(source.textContent)));
      figure.data.forEach(coloured);
      dated(figure);
      Object.assign(figure.layout, {dragmode: touch ? false : "zoom"});
      const fresh = !canvas;
      if (fresh) {
        canvas = chart.appendChild(document.createElement("div"));
        canvas.className = "canvas";
        canvas.setAttribute("role", "img");
        if (figure.time) canvas.dataset.time = "";
      }
      canvas.setAttribute("aria-label", words.textContent);
      canvas.whole = [...(figure.layout.xaxis.range ?? [])];
      if (figure.time && zoom) figure.layout.xaxis.range = [...zoom];
      words.hidden = true;
      await Plotly.react(canvas, figure.data, figure.layout, config);
      if (fresh) listen(canvas);
      chart.dataset.drawn = "";
    } catch (error) {
      canvas?.remove();
      words.hidden = false;
      if (!chart.querySelector(".note")) {
        chart.prepend(Object.assign(document.createElement("p"), {className: "note"}));
      }
      chart.querySelector(".note").textContent = `cannot be drawn: ${error.message}`;
    }
  };

  // Of the charts that can be seen: one in a closed fold has no width yet.
  const draw = async (charts = document.querySelectorAll(".chart")) => {
    for (const chart of charts) if (chart.offsetWidth) await drawOne(chart);
    if (moment !== null) together(() => linked(null).forEach(one => point(one, moment)));
  };

  // The drawings of `shown` go over to `part`, which replaces it, so that zoom, switched-off lines and open
  // folds stay.
  const adopt = (shown, part) => {
    const folds = [...shown.querySelectorAll("details")];
    part.querySelectorAll("details").forEach((one, number) => { one.open = Boolean(folds[number]?.open); });
    for (const chart of part.querySelectorAll(".chart")) {
      const old = [...shown.querySelectorAll(".chart")].find(one => one.dataset.plot === chart.dataset.plot);
      const canvas = old?.querySelector(".canvas");
      if (canvas) chart.append(canvas);
    }
  };

  const fit = width => document.querySelectorAll(".canvas").forEach(one => Plotly.relayout(one, {width}));
  document.addEventListener("DOMContentLoaded", () => draw());
  document.addEventListener("toggle", event => draw(event.target.querySelectorAll(".chart:not([data-drawn])")), true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  addEventListener("beforeprint", () => fit(660));
  addEventListener("afterprint", () => fit(null));
  return {adopt, draw};
})();

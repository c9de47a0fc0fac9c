(() => {
  const narrow = () => window.innerWidth < 700;
  const LETTER = 7; // pixels of a letter in a label
  const touch = matchMedia("(pointer: coarse)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const paint = (layout) => {
    const ink = colour("--ink"), soft = colour("--soft"), grid = colour("--grid");
    layout.font = { family: getComputedStyle(document.body).fontFamily, color: ink, size: 12 };
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) {
      const axis = layout[name];
      axis.gridcolor = grid;
      axis.linecolor = grid;
      axis.tickfont = { color: soft };
      if (axis.title) axis.title.font = { ...axis.title.font, color: soft };
    }
    layout.hoverlabel = { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: ink } };
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink };
    return layout;
  };

  /** Of ticks that were chosen by hand, an axis keeps the labels that do not touch; the last is always told. */
  const thin = (holder) => {
    const { tickvals, ticktext } = holder.layout.xaxis || {};
    if (!tickvals || !ticktext) return;
    const axis = holder._fullLayout.xaxis;
    let free = axis._length + Math.max(...ticktext.map((text) => text.length)) * LETTER;
    const kept = ticktext.map((text, i) => [text, axis.d2p(tickvals[i])]).reverse().map(([text, middle]) => {
      const half = (text.length * LETTER) / 2;
      if (middle + half > free) return "";
      free = middle - half - LETTER;
      return text;
    }).reverse();
    if (kept.some((text, i) => text !== ticktext[i])) return Plotly.relayout(holder, { "xaxis.ticktext": kept });
  };

  /** Draw a figure into a holder; `more` replaces members of the layout. Answers when it is drawn. */
  const plot = (holder, figure, more = {}) => {
    const layout = paint(figure.layout);
    layout.dragmode = touch ? false : "zoom";
    if (narrow() && layout.showlegend) {
      const entries = figure.data.filter((d) => d.showlegend !== false).length;
      layout.height += 20 * Math.max(0, entries - 2);
      layout.legend.font = { size: 11 };
    }
    return Plotly.newPlot(holder, figure.data, Object.assign(layout, more), {
      responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover", showSendToCloud: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    }).then(() => thin(holder)).then(() => holder.setAttribute("data-drawn", "yes"));
  };

  const draw = (holder) => plot(holder, JSON.parse(document.getElementById(holder.dataset.figure).textContent));

  const folded = (holder) => holder.closest("details:not([open])");
  const holders = [...document.querySelectorAll("[data-figure]")].filter((holder) => !folded(holder));
  window.gauge = { plot, colour };

  const next = () => {
    const holder = holders.shift();
    if (!holder) { document.body.setAttribute("data-drawn", "yes"); return; }
    draw(holder);
    setTimeout(next, 0);
  };
  next();

  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => {
      for (const holder of details.querySelectorAll("[data-figure]:not([data-drawn])")) {
        if (!folded(holder)) draw(holder);
      }
    });
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const holder of document.querySelectorAll("[data-drawn] > .plot-container")) {
      const chart = holder.parentElement;
      Plotly.relayout(chart, paint(chart.layout));
    }
  });
})();

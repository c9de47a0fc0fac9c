(() => {
  const narrow = () => window.innerWidth < 700;
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

  const draw = (holder) => {
    const figure = JSON.parse(document.getElementById(holder.dataset.figure).textContent);
    const layout = paint(figure.layout);
    layout.dragmode = touch ? false : "zoom";
    if (narrow() && layout.showlegend) {
      const entries = figure.data.filter((d) => d.showlegend !== false).length;
      layout.height += 20 * Math.max(0, entries - 2);
      layout.legend.font = { size: 11 };
    }
    Plotly.newPlot(holder, figure.data, layout, {
      responsive: true, displaylogo: false, displayModeBar: touch ? false : "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    }).then(() => holder.setAttribute("data-drawn", "yes"));
  };

  const folded = (holder) => holder.closest("details:not([open])");
  const holders = [...document.querySelectorAll("[data-figure]")].filter((holder) => !folded(holder));
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

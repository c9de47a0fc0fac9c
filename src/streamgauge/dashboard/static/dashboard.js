(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (tag, text = "", style = "") => {
    const found = document.createElement(tag);
    found.textContent = text;
    if (style) found.className = style;
    return found;
  };

  // The token that the console printed: taken from the address once, kept for this origin, never sent in an address.
  const KEY = "streamgauge-token";
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = () => localStorage.getItem(KEY) || "";

  const say = (words, selector = "#said") => {
    const place = one(selector);
    place.textContent = words;
    if (selector === "#said") setTimeout(() => { if (place.textContent === words) place.textContent = ""; }, 8000);
  };

  /** Open a dialog and answer the value of the button that closed it; empty where it was cancelled. */
  const asked = (dialog) => new Promise((answer) => {
    dialog.returnValue = "";
    dialog.addEventListener("close", () => answer(dialog.returnValue), { once: true });
    dialog.showModal();
  });

  const words = (found, answer) => [found.error, found.way_out].filter(Boolean).join(". ") || answer.statusText;

  const send = async (address, body) => {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Streamgauge-Token": token() },
      body: JSON.stringify(body),
    });
    return [answer, await answer.json().catch(() => ({}))];
  };

  /** Send a change, asking for the token where it is not known; answers what the server said, or throws its words. */
  const change = async (address, body = {}) => {
    let [answer, found] = await send(address, body);
    if (answer.status === 403 && /token/.test(found.error || "")) {
      const dialog = one("#token"), field = one("input", dialog);
      if (await asked(dialog) === "use") {
        localStorage.setItem(KEY, field.value.trim().replace(/^.*#token=/, ""));
        field.value = "";
        [answer, found] = await send(address, body);
      }
    }
    if (!answer.ok) throw new Error(words(found, answer));
    return found;
  };

  /** What an address answers in JSON, or throws its words. */
  const ask = async (address, options = {}) => {
    const answer = await fetch(address, options);
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(words(found, answer));
    return found;
  };

  window.gauge = Object.assign(window.gauge || {}, { ask, asked, change, say, token });

  // ---- tags, note and removal, on the list and on the page of a run ----

  const shownNotes = (place, notes) => {
    const tags = one("[data-tags]", place);
    tags.replaceChildren(...notes.tags.flatMap((tag) => [made("span", tag, "tag"), " "]));
    one("[data-note]", place).textContent = notes.note;
  };

  const writeNotes = async (run, place) => {
    const dialog = one("#notes"), form = one("form", dialog);
    one("[data-run]", dialog).textContent = run;
    form.tags.value = all(".tag", one("[data-tags]", place)).map((tag) => tag.textContent).join(", ");
    form.note.value = one("[data-note]", place).textContent;
    one("[data-problem]", dialog).textContent = "";
    while (await asked(dialog) === "save") {
      try {
        const tags = form.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
        const notes = await change(`/api/runs/${encodeURIComponent(run)}/notes`, { tags, note: form.note.value });
        shownNotes(place, notes);
        place.dataset.searched = `${place.dataset.searched || ""} ${notes.tags.join(" ")} ${notes.note}`.toLowerCase();
        place.dataset.notes = `${notes.tags.join(", ")} ${notes.note}`;
        say(`The note of ${run} is saved.`);
        return;
      } catch (error) {
        one("[data-problem]", dialog).textContent = error.message;
      }
    }
  };

  const remove = async (run, place, after) => {
    const dialog = one("#delete");
    one("[data-run]", dialog).textContent = run;
    one("[data-problem]", dialog).textContent = "";
    while (await asked(dialog) === "delete") {
      try {
        await change(`/api/runs/${encodeURIComponent(run)}/delete`, { confirm: run });
        if (after) { location.assign(after); return; }
        place.remove();
        one("#filter").dispatchEvent(new Event("input"));
        say(`${run} is deleted.`);
        return;
      } catch (error) {
        one("[data-problem]", dialog).textContent = error.message;
      }
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (!button) return;
    const place = button.closest("[data-run]");
    if (button.dataset.act === "notes") writeNotes(place.dataset.run, place);
    if (button.dataset.act === "delete") remove(place.dataset.run, place, button.dataset.after);
  });

  // ---- the list of runs: filter and sort ----

  const filter = one("#filter");
  if (filter) {
    const body = one("#runs tbody");
    const look = () => {
      const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let fitting = 0;
      for (const row of body.rows) {
        row.hidden = !wanted.every((word) => row.dataset.searched.includes(word));
        fitting += !row.hidden;
      }
      say(`${fitting} of ${body.rows.length} runs`, "#shown");
      one("#nothing").hidden = fitting > 0;
    };
    filter.addEventListener("input", look);
    look();

    const compare = { number: (a, b) => Number(a) - Number(b), text: (a, b) => a.localeCompare(b) };
    for (const button of all(".sort")) {
      button.addEventListener("click", () => {
        const heading = button.closest("th");
        const up = heading.getAttribute("aria-sort") !== "ascending";
        for (const other of all("th[aria-sort]")) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const { key, kind } = button.dataset;
        const order = (a, b) => compare[kind](a.dataset[key], b.dataset[key]) * (up ? 1 : -1);
        body.append(...[...body.rows].sort(order));
      });
    }
  }

  // ---- a picture of every chart ----

  const picture = async (figure) => {
    const holder = one(".chart", figure), heading = one("h3", figure).textContent;
    const layout = { ...holder.layout, paper_bgcolor: gauge.colour("--card"), title: { text: heading, font: { size: 15 } } };
    layout.margin = { ...layout.margin, t: (layout.margin.t || 0) + 34 };
    const size = { format: "png", scale: 2, width: holder.clientWidth, height: layout.height + 34 };
    const link = document.createElement("a");
    link.href = await Plotly.toImage({ data: holder.data, layout }, size);
    link.download = `${document.title} ${heading}`.replace(/[^\w.-]+/g, "-") + ".png";
    link.click();
  };

  const withPicture = (figure) => {
    const button = made("button", "PNG", "small picture");
    button.type = "button";
    button.setAttribute("aria-label", `Download ${one("h3", figure).textContent} as PNG`);
    button.addEventListener("click", () => picture(figure));
    figure.prepend(button);
  };
  for (const figure of all("figure")) if (one(".chart", figure)) withPicture(figure);

  // ---- one run: trials laid over each other, and a span of time ----

  const trials = one("#trials");
  if (!trials) return;
  const place = one("#overlay"), form = one("#span");
  const base = `/api/runs/${encodeURIComponent(trials.dataset.run)}`;
  const chosen = () => all("[data-trial]:checked", trials).map((box) => box.dataset.trial);
  const query = () => chosen().map((number) => `trial=${number}`).join("&");
  let asking = new AbortController();

  const holder = (each) => {
    const figure = made("figure"), chart = made("div", "", "chart");
    chart.style.minHeight = `${each.figure.layout.height}px`;
    figure.append(made("h3", each.heading), made("figcaption", each.caption), chart);
    withPicture(figure);
    return [figure, chart];
  };

  const limits = () => [form.from.value, form.to.value];
  const ends = () => (place.firstChild ? one(".chart", place).layout.xaxis.range : [0, 0]);
  /** The shapes of a chart with the span shaded. */
  const shaded = (shapes) => {
    const others = (shapes || []).filter((shape) => shape.name !== "span");
    const [from, to] = limits();
    if (from === "" && to === "") return others;
    const [first, last] = ends();
    const across = { x0: from === "" ? first : Number(from), x1: to === "" ? last : Number(to), yref: "paper", y0: 0, y1: 1 };
    return [...others, { type: "rect", name: "span", ...across, fillcolor: gauge.colour("--link"), opacity: .16, line: { width: 0 } }];
  };

  const brushable = (chart) => {
    chart.on("plotly_selected", (event) => {
      if (!event || !event.range) return;
      const [low, high] = event.range.x.map((at) => Math.round(at * 100) / 100);
      form.from.value = Math.min(low, high);
      form.to.value = Math.max(low, high);
      take();
    });
    chart.on("plotly_deselect", () => form.reset());
  };

  const overlay = async () => {
    asking.abort();
    asking = new AbortController();
    for (const swatch of all("[data-swatch]")) swatch.style.background = "";
    if (!chosen().length) { place.replaceChildren(); say("No trial is chosen.", "#overlay-said"); showRows([]); return; }
    try {
      const found = await ask(`${base}/overlay?${query()}`, { signal: asking.signal });
      for (const each of found.trials) one(`[data-swatch="${each.trial}"]`).style.background = each.colour;
      const holders = found.figures.map(holder);
      place.replaceChildren(...holders.map(([figure]) => figure));
      for (const [at, [, chart]] of holders.entries()) {
        const brush = at === 0 && found.figures[0].heading === "Latency over time";
        const more = brush ? { dragmode: "select", selectdirection: "h" } : {};
        await gauge.plot(chart, found.figures[at].figure, more);
        if (brush) brushable(chart);
      }
      say(`${found.trials.length} shown`, "#overlay-said");
      await take();
    } catch (error) {
      if (error.name !== "AbortError") say(error.message, "#overlay-said");
    }
  };

  const QUANTILES = ["n", "mean", "p50", "p95", "p99", "p99.9", "p99.999", "max"];
  const showRows = (rows) => one("#quantiles tbody").replaceChildren(...rows.map((row) => {
    const line = made("tr");
    line.append(made("td", row.name, "title"), ...QUANTILES.map((name) => {
      const cell = made("td", row.words[name], "number");
      cell.dataset.label = name === "n" ? "samples" : name;
      return cell;
    }));
    return line;
  }));

  const take = async () => {
    if (!chosen().length) return;
    const [from, to] = limits();
    const limited = new URLSearchParams({ kind: form.kind.value });
    if (from !== "") limited.set("from", from);
    if (to !== "") limited.set("to", to);
    try {
      const found = await ask(`${base}/span?${query()}&${limited}`, { signal: asking.signal });
      showRows(found.rows);
      const rough = found.rows.some((row) => !row.exact) ? " Where the samples were not kept, whole slots are counted." : "";
      const span = from === "" && to === "" ? "The whole trial" : `From ${from || "the start"} to ${to || "the end"} s`;
      say(`${span}: taken in ${found.took_ms} ms.${rough}`, "#span-said");
      const chart = one(".js-plotly-plot", place);
      if (chart) Plotly.relayout(chart, { selections: [], shapes: shaded(chart.layout.shapes) });
    } catch (error) {
      if (error.name !== "AbortError") say(error.message, "#span-said");
    }
  };

  trials.addEventListener("change", overlay);
  form.addEventListener("submit", (event) => { event.preventDefault(); take(); });
  form.addEventListener("reset", () => setTimeout(take, 0));
  form.kind.addEventListener("change", take);
  overlay();
})();

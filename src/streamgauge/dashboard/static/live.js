// The page of a run that is under way: takes its stream of events and moves bars, charts and the log.
(() => {
  const root = document.getElementById("live");
  const run = root.dataset.run;
  const phases = root.dataset.phases.split("|");
  const MOST_POINTS = 1200, MOST_LINES = 500, AWAY_MS = 5000;
  const byId = (id) => document.getElementById(id);
  const trials = new Map();
  let planned = 0, shown = 0, following = true, known = 0, source = null, ended = false;

  const made = (tag, words = "", kind = "") => {
    const node = document.createElement(tag);
    node.textContent = words;
    if (kind) node.className = kind;
    return node;
  };

  const trialOf = (number) => {
    if (!trials.has(number)) {
      trials.set(number, { number, facts: {}, points: [], phase: "", share: null, marks: null, paradigms: null, outcome: null, row: null });
    }
    return trials.get(number);
  };

  // -- trials -------------------------------------------------------------------------------------------------------

  const rowOf = (trial) => {
    const row = made("li");
    const choose = made("button", "", "trial-title");
    choose.type = "button";
    choose.addEventListener("click", () => { following = trial.number === newest(); show(trial.number); });
    const steps = made("ol", "", "phases");
    for (const phase of phases) {
      const step = made("li");
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.value = 0;
      bar.setAttribute("aria-label", phase);
      step.append(bar, made("span", phase));
      steps.append(step);
    }
    row.append(choose, made("span", "", "outcome"), steps);
    trial.row = row;
    const after = [...trials.values()].filter((t) => t.row && t.number > trial.number && t !== trial)
      .sort((a, b) => a.number - b.number)[0];
    byId("live-trials").insertBefore(row, after ? after.row : null);
    return row;
  };

  const paintRow = (trial) => {
    const row = trial.row || rowOf(trial);
    const of = planned ? `/${planned}` : "";
    const details = trial.facts.details ? ` · ${trial.facts.details}` : "";
    row.querySelector(".trial-title").textContent = `${trial.number}${of} ${trial.facts.title || ""}${details}`;
    const at = trial.outcome ? phases.length : phases.indexOf(trial.phase);
    [...row.querySelectorAll(".phases li")].forEach((step, place) => {
      const bar = step.querySelector("progress");
      const state = at < 0 || place > at ? "waiting" : place < at ? "past" : "now";
      step.className = state;
      if (state === "now" && trial.share === null) bar.removeAttribute("value");
      else bar.value = state === "past" ? 1 : state === "now" ? trial.share : 0;
      if (state === "now") step.setAttribute("aria-current", "step"); else step.removeAttribute("aria-current");
    });
    const outcome = row.querySelector(".outcome");
    if (trial.outcome) {
      const good = trial.outcome.good;
      outcome.textContent = `${good === true ? "✓" : good === false ? "✗" : "–"} ${trial.outcome.text}`;
      outcome.className = `outcome ${good === true ? "good" : good === false ? "bad" : "warn"}`;
    }
    row.classList.toggle("current", trial.number === shown);
  };

  const newest = () => Math.max(0, ...[...trials.values()].filter((t) => t.phase || t.points.length).map((t) => t.number));

  // -- charts -------------------------------------------------------------------------------------------------------

  const holders = () => [...root.querySelectorAll("[data-figure][data-drawn], .paradigm-chart[data-drawn]")];

  const valueOf = (point, meta) => {
    if (meta.field) return point.v[meta.field] ?? null;
    return point.bands && point.bands[meta.segment] === meta.paradigm ? meta.row : null;
  };

  const redraw = (holder, trial) => {
    const x = trial.points.map((p) => p.t);
    holder.data.forEach((trace) => {
      trace.x = x.slice();
      trace.y = trial.points.map((p) => valueOf(p, trace.meta));
    });
    mark(holder, trial);
    Plotly.redraw(holder);
  };

  const mark = (holder, trial) => {
    holder.layout.shapes = trial.marks ? trial.marks.shapes : [];
    holder.layout.annotations = trial.marks ? trial.marks.annotations : [];
  };

  const extend = (trial, points) => {
    for (const holder of holders()) {
      if ((holder.data[0].x || []).length === 0 && trial.points.length > points.length) { redraw(holder, trial); continue; }
      const indices = holder.data.map((_, place) => place);
      Plotly.extendTraces(holder, {
        x: holder.data.map(() => points.map((p) => p.t)),
        y: holder.data.map((trace) => points.map((p) => valueOf(p, trace.meta))),
      }, indices, MOST_POINTS);
    }
  };

  const paradigmChart = (trial) => {
    const place = byId("paradigm-place");
    const old = place.querySelector(".paradigm-chart");
    if (old) Plotly.purge(old);
    place.replaceChildren();
    if (!trial.paradigms) return;
    const holder = made("div", "", "chart paradigm-chart");
    const figure = made("figure");
    figure.append(made("h3", trial.paradigms.heading), made("figcaption", trial.paradigms.caption), holder);
    place.append(figure);
    const drawing = structuredClone(trial.paradigms.figure);
    gauge.plot(holder, drawing).then(() => redraw(holder, trial));
  };

  const show = (number) => {
    shown = number;
    const trial = trialOf(number);
    byId("shown-trial").textContent = trial.facts.title ? `of ${trial.facts.title}` : "";
    for (const each of trials.values()) paintRow(each);
    paradigmChart(trial);
    for (const holder of holders()) if (!holder.classList.contains("paradigm-chart")) redraw(holder, trial);
    tiles(trial);
  };

  // -- figures and words --------------------------------------------------------------------------------------------

  const words = (value, field) => {
    if (value === null || value === undefined) return "–";
    // A logarithmic axis draws 0 ms at a half.
    if (/^p\d+$/.test(field) && value < 1) return "<1";
    const digits = field === "cpu-job" ? 2 : value < 10 && field !== "backlog" ? 1 : 0;
    return value.toLocaleString("en-GB", { minimumFractionDigits: 0, maximumFractionDigits: digits });
  };

  const tiles = (trial) => {
    const last = trial.points[trial.points.length - 1];
    for (const tile of root.querySelectorAll("[data-tile]")) {
      const value = last ? last.v[tile.dataset.tile] : null;
      tile.replaceChildren(words(value, tile.dataset.tile), made("small", value === null ? "" : tile.dataset.unit));
    }
  };

  const now = () => {
    const trial = trials.get(newest());
    if (!trial) return;
    const share = trial.share === null ? "" : `, ${Math.round(100 * trial.share)} %`;
    const told = trial.outcome ? trial.outcome.text : trial.phase + share;
    byId("now").textContent = `${trial.facts.title || `trial ${trial.number}`}: ${told}`;
  };

  const log = (event) => {
    const line = made("li", "", `of-${event.kind}`);
    const at = new Date(event.said_ms);
    const stamp = made("time", at.toLocaleTimeString("en-GB"));
    stamp.dateTime = at.toISOString();
    const who = event.trial === null ? "" : `${event.trial}`;
    line.append(stamp, made("span", who, "soft"), made("span", event.kind, "kind"), made("span", event.text));
    const list = byId("log");
    list.prepend(line);
    while (list.children.length > MOST_LINES) list.lastElementChild.remove();
  };

  // -- the stream ---------------------------------------------------------------------------------------------------

  const take = (records) => {
    const added = new Map();
    let redrawn = false, charts = false;
    for (const record of records) {
      if (record.what === "plan") {
        planned = record.trials.length;
        for (const each of record.trials) { trialOf(each.trial).facts = each; paintRow(trialOf(each.trial)); }
        continue;
      }
      if (record.what === "silent") { silence(); continue; }
      const trial = record.trial === null ? null : trialOf(record.trial);
      if (record.what === "trial") {
        trial.facts = { ...trial.facts, ...record, details: record.details || trial.facts.details };
        trial.phase = trial.phase || phases[0];
        paintRow(trial);
      } else if (record.what === "marks") { trial.marks = record; redrawn = redrawn || trial.number === shown; }
      else if (record.what === "paradigms") { trial.paradigms = record; charts = charts || trial.number === shown; }
      else if (record.what === "outcome") { trial.outcome = record; paintRow(trial); }
      else if (record.what === "event") { if (record.n > known) log(record); }
      else if (record.what === "sample" && record.n > (trial.n || 0)) {
        trial.n = record.n;
        trial.points.push(record);
        if (trial.points.length > MOST_POINTS) trial.points.shift();
        trial.phase = record.phase;
        trial.share = record.share;
        added.set(trial.number, [...(added.get(trial.number) || []), record]);
      }
    }
    for (const number of added.keys()) paintRow(trialOf(number));
    if (added.size) byId("silence").hidden = true;
    now();
    if (following && newest() !== shown && newest() > 0) { show(newest()); return; }
    const trial = trials.get(shown);
    if (!trial) return;
    if (charts) { show(shown); return; }
    if (redrawn) for (const holder of holders()) { mark(holder, trial); Plotly.relayout(holder, { shapes: holder.layout.shapes, annotations: holder.layout.annotations }); }
    if (added.has(shown)) { extend(trial, added.get(shown)); tiles(trial); }
    root.dataset.points = trial.points.length;
  };

  const silence = () => {
    const place = byId("silence");
    place.textContent = "Nothing has been heard of this run for a while: its command stands still or was killed. ";
    const again = made("a", "Look again");
    again.href = location.pathname;
    place.append(again);
    place.hidden = false;
  };

  const open = () => {
    if (source || ended) return;
    source = new EventSource(`/runs/${encodeURIComponent(run)}/live?after=${known}`);
    source.addEventListener("records", (event) => {
      take(JSON.parse(event.data));
      known = Number(event.lastEventId) || known;
    });
    source.addEventListener("end", (event) => {
      ended = true;
      source.close();
      gauge.say(`The run has ended: ${JSON.parse(event.data).status}`);
      // The same address shows what was measured.
      setTimeout(() => location.reload(), 800);
    });
    source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) { source = null; setTimeout(open, 2000); } };
  };

  const close = () => { if (source) { source.close(); source = null; } };

  // A browser opens few connections to one address: a page that nobody sees gives its own to those that are seen.
  let away = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(away);
    if (document.visibilityState === "hidden") away = setTimeout(close, AWAY_MS);
    else open();
  });
  window.addEventListener("pagehide", close);

  const begin = () => {
    if (!document.body.dataset.drawn) { setTimeout(begin, 30); return; }
    open();
  };

  // -- stopping -----------------------------------------------------------------------------------------------------

  const stoppable = async () => {
    const answer = await fetch("/api/control");
    if (!answer.ok) return;
    const found = await answer.json();
    const mine = found.started.find((each) => each.run === run && each.state === "running");
    if (!mine || found.refused) return;
    byId("stop-place").hidden = false;
    byId("stop").addEventListener("click", async () => {
      if (!confirm("Stop this run? What is finished is kept.")) return;
      byId("stop").disabled = true;
      try { await gauge.change("/api/stop", { id: mine.id }); gauge.say("Stopping."); }
      catch (error) { gauge.say(error.message); byId("stop").disabled = false; }
    });
  };

  window.addEventListener("load", () => { begin(); stoppable(); });
})();

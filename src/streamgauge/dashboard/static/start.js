// The form that starts a run: asks the server what planning says of it while one types, and shows it.
(() => {
  const form = document.getElementById("wish");
  if (!form || form.hidden) return;
  const byId = (id) => document.getElementById(id);
  const curve = byId("curve");
  const TYPING_MS = 250, LOOK_MS = 500;
  let waiting = 0, asked = 0, begun = null;

  const made = (tag, words = "", kind = "") => {
    const node = document.createElement(tag);
    node.textContent = words;
    if (kind) node.className = kind;
    return node;
  };

  // -- the fields ---------------------------------------------------------------------------------------------------

  const lines = (text) => text.split("\n").map((each) => each.trim()).filter(Boolean);
  const faults = () => [...byId("faults").querySelectorAll("input")].map((each) => each.value.trim()).filter(Boolean);

  const wish = () => {
    const found = { applications: [form.applications.value], faults: faults(), thresholds: lines(form.thresholds.value) };
    found.engines = [...form.querySelectorAll("[name=engines]:checked")].map((each) => each.value);
    for (const name of ["load", "for", "events", "warmup", "settling", "repeat", "seed", "partitions", "place"]) {
      found[name] = form.elements[name].value.trim();
    }
    // Of a number of events the time follows, and a log that is full beforehand has none.
    if (found.events || found.load.startsWith("preloaded")) found.for = "";
    return found;
  };

  const addFault = (words) => {
    const line = made("li"), field = made("input"), remove = made("button", "Remove", "small");
    field.value = words;
    field.spellcheck = false;
    field.setAttribute("aria-label", "Fault");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove ${words}`);
    remove.addEventListener("click", () => { line.remove(); later(); });
    line.append(field, remove);
    byId("faults").append(line);
    later();
  };

  byId("add").addEventListener("click", () => {
    const away = byId("away").value.trim();
    addFault(`${byId("verb").value} ${byId("target").value} at ${byId("at").value.trim()}${away ? ` for ${away}` : ""}`);
  });

  // -- what planning says -------------------------------------------------------------------------------------------

  const later = () => { clearTimeout(waiting); waiting = setTimeout(check, TYPING_MS); };

  const showProblems = (problems) => {
    for (const place of form.querySelectorAll("[data-problem]")) {
      const mine = problems.filter((each) => each.field === place.dataset.problem).map((each) => each.text);
      place.textContent = mine.join(" ");
      const field = place.dataset.problem && form.elements[place.dataset.problem];
      if (field && field.setAttribute) {
        if (mine.length) field.setAttribute("aria-invalid", "true"); else field.removeAttribute("aria-invalid");
      }
    }
  };

  const showFigure = async (figure, remark) => {
    byId("remark").textContent = remark;
    curve.hidden = !figure;
    if (!figure) return;
    await gauge.plot(curve, figure, { dragmode: false });
    curve.removeAllListeners("plotly_click");
    curve.on("plotly_click", (event) => {
      const at = Math.max(0, event.points[0].x);
      byId("at").value = `${Math.round(at * 10) / 10}s`;
      byId("at").focus();
    });
  };

  const check = async () => {
    const number = ++asked;
    const about = form.applications.selectedOptions[0];
    byId("about").textContent = about.dataset.about;
    try {
      const found = await gauge.change("/api/start/check", wish());
      if (number !== asked) return;
      byId("command").textContent = found.command;
      byId("expected").textContent = found.expected;
      byId("gaps").replaceChildren(...found.gaps.map((each) => made("li", `Cannot be run: ${each}`)));
      showProblems(found.problems);
      byId("start").disabled = found.problems.length > 0 || begun !== null;
      await showFigure(found.figure, found.remark);
      form.dataset.checked = number;
    } catch (error) {
      if (number !== asked) return;
      showProblems([{ field: "", text: error.message }]);
      byId("start").disabled = true;
    }
  };

  form.addEventListener("input", later);
  form.addEventListener("change", later);

  // -- start, watch, stop -------------------------------------------------------------------------------------------

  const state = (words) => { byId("state").textContent = words; };

  const said = (words) => {
    byId("words").textContent = words;
    byId("words").hidden = !words;
  };

  const look = async () => {
    if (begun === null) return;
    let mine = null;
    try {
      const found = await gauge.ask("/api/control");
      mine = found.started.find((each) => each.id === begun);
    } catch (error) { state(error.message); }
    if (mine && mine.run && mine.state === "running") { location.assign(`/runs/${encodeURIComponent(mine.run)}`); return; }
    if (mine && mine.state === "ended") {
      state(mine.exit_code === 0 ? "It has ended." : `It ended with exit code ${mine.exit_code}.`);
      said(mine.said);
      finish();
      return;
    }
    if (mine) said(mine.said);
    setTimeout(look, LOOK_MS);
  };

  const finish = () => { begun = null; byId("halt").hidden = true; byId("start").disabled = false; };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("start").disabled = true;
    state("Starting.");
    said("");
    try {
      const started = await gauge.change("/api/start", wish());
      begun = started.id;
      byId("halt").hidden = false;
      state("Started: its page opens as soon as the run is there.");
      look();
    } catch (error) {
      state(error.message);
      byId("start").disabled = false;
    }
  });

  byId("halt").addEventListener("click", async () => {
    try { await gauge.change("/api/stop", { id: begun }); state("Stopping."); }
    catch (error) { state(error.message); }
  });

  check();
})();

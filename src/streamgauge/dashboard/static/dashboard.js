// The token that the console printed: taken from the address once, kept for this origin, never sent in an address.
const gauge = (() => {
  const KEY = "streamgauge-token";
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }

  const say = (words) => { document.getElementById("said").textContent = words; };

  const token = () => localStorage.getItem(KEY) || "";

  /** Send a change; answers what the server said, or throws its words. */
  const change = async (address, body = {}) => {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Streamgauge-Token": token() },
      body: JSON.stringify(body),
    });
    const found = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error([found.error, found.way_out].filter(Boolean).join(". ") || answer.statusText);
    return found;
  };

  return { change, say, token };
})();

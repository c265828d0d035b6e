// Fetches the page again every `data-seconds` and replaces its parts, except where the reader has selected text.
// What the reader searches, opens or sorts by is shown at once, and kept in the address.
(() => {
  const lost = document.getElementById("lost");
  let asked = 0;
  const query = () => {
    const known = [...document.querySelectorAll("[data-version]")].map(part => part.id + ":" + part.dataset.version);
    const wanted = new URLSearchParams(location.search);
    wanted.set("since", known.join(","));
    return "?" + wanted;
  };
  const show = page => {
    const selects = String(getSelection()) !== "";
    for (const part of page.querySelectorAll("main > div[id]")) {
      const shown = document.getElementById(part.id);
      if (selects && getSelection().containsNode(shown, true)) continue;
      for (const ticked of shown.querySelectorAll("input:checked")) {
        const same = [...part.querySelectorAll("input")].find(one => one.value === ticked.value);
        if (same) same.checked = true;
      }
      if (window.plots) plots.adopt(shown, part);
      shown.replaceWith(part);
      if (window.plots) plots.draw(part.querySelectorAll(".chart"));
    }
  };
  const refresh = async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(location.pathname + query(), {cache: "no-store", signal: AbortSignal.timeout(9000)});
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== asked) return;
      show(page);
      document.title = page.title;
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
  };
  const wait = began => {
    const seconds = Number(document.querySelector("[data-seconds]").dataset.seconds);
    if (seconds) setTimeout(again, Math.max(200, seconds * 1000 - (performance.now() - began)));
  };
  const again = async () => {
    const began = performance.now();
    if (!document.hidden) await refresh();
    wait(began);
  };

  const search = document.querySelector("form[role=search]");
  const chosen = () => {
    const given = [...new FormData(search)].filter(([name, value]) => value && name !== "open");
    const open = new URLSearchParams(location.search).getAll("open").map(name => ["open", name]);
    return "?" + new URLSearchParams([...given, ...open]);
  };
  search?.addEventListener("input", () => {
    history.replaceState(null, "", chosen());
    refresh();
  });
  search?.addEventListener("submit", event => {
    event.preventDefault();
    history.pushState(null, "", chosen());
    refresh();
  });
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a");
    if (link?.matches("#live [href^='?']") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      history.pushState(null, "", link.getAttribute("href"));
      refresh();
    }
    // Links to Grafana lead to the time that the plots show.
    const zoom = location.hash.match(/^#zoom=([\d.]+),([\d.]+)$/);
    if (link?.dataset.begin && zoom) {
      const address = new URL(link.href);
      ["from", "to"].forEach((name, place) =>
        address.searchParams.set(name, Math.round(1000 * (Number(link.dataset.begin) + Number(zoom[place + 1])))));
      link.href = address;
    }
  });
  addEventListener("popstate", () => search && refresh());
  wait(performance.now());
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
})();

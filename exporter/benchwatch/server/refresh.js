// Fetches the page again every `data-seconds` and replaces its parts, except where the reader has selected text.
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
    const seconds = Number(document.querySelector("[data-seconds]").dataset.seconds);
    if (seconds) setTimeout(again, Math.max(200, seconds * 1000 - (performance.now() - began)));
  };
  const again = async () => {
    const began = performance.now();
    await refresh();
    wait(began);
  };
  wait(performance.now());
  document.addEventListener("visibilitychange", refresh);
})();

"use strict";
(() => {
  const form = document.querySelector(".filter");
  const output = form.querySelector("output");
  const fields = ["q", "area", "verdict", "inherited"];
  const all = (selector, where = document) => [...where.querySelectorAll(selector)];
  const texts = new Map();
  const ruleTexts = new Map(all(".glossary dl div").map((each) => [each.id.slice(2), each.textContent.toLowerCase()]));
  const textOf = (element) => {
    if (!texts.has(element)) {
      const own = element.classList.contains("rule-chip") ? "" : element.textContent.toLowerCase();
      texts.set(element, `${own} ${ruleTexts.get(element.dataset.rule) ?? ""}`);
    }
    return texts.get(element);
  };
  const wanted = () => Object.fromEntries(fields.map((name) => [name, form.elements[name].value.trim()]));

  function fits(element, want) {
    return (!want.verdict || element.dataset.verdict === want.verdict)
      && (!want.inherited || element.dataset.inherited === want.inherited)
      && (!want.q || want.q.toLowerCase().split(/\s+/).every((word) => textOf(element).includes(word)));
  }

  function filter() {
    const want = wanted();
    const narrowed = fields.some((name) => want[name]);
    let rules = 0;
    let wrappers = 0;
    for (const cell of all(".overview [data-area]")) cell.classList.toggle("out", Boolean(want.area) && cell.dataset.area !== want.area);
    for (const section of all(".wrapper")) {
      let here = 0;
      for (const area of all(".area", section)) {
        let found = 0;
        if (!want.area || area.dataset.area === want.area) {
          for (const rule of all("[data-verdict]", area)) {
            const fit = fits(rule, want);
            rule.classList.toggle("out", !fit);
            found += fit;
          }
          for (const group of all(".group, .missing", area)) group.classList.toggle("out", !group.querySelector("li:not(.out)"));
        }
        area.classList.toggle("out", narrowed && !found);
        if (narrowed) area.open = found > 0;
        here += found;
      }
      const out = narrowed && !here;
      section.classList.toggle("out", out);
      document.querySelector(`[data-row="${section.id}"]`)?.classList.toggle("out", out);
      rules += here;
      wrappers += here > 0;
    }
    const many = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
    output.value = narrowed ? `${many(rules, "verdict")} of ${many(wrappers, "wrapper")}` : "";
    document.documentElement.dataset.shown = String(rules);
  }

  function remember() {
    const want = wanted();
    const said = new URLSearchParams(Object.entries(want).filter(([, value]) => value)).toString();
    history.replaceState(null, "", said ? `#${said}` : location.pathname + location.search);
  }

  function follow() {
    const said = decodeURIComponent(location.hash.slice(1));
    const target = said && document.getElementById(said);
    if (target) {
      for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
      target.scrollIntoView();
      return;
    }
    const asked = new URLSearchParams(location.hash.slice(1));
    if (![...asked.keys()].some((name) => fields.includes(name))) return;
    for (const name of fields) form.elements[name].value = asked.get(name) ?? "";
    filter();
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { filter(); remember(); });
  form.addEventListener("reset", () => setTimeout(() => {
    filter();
    remember();
    for (const each of all(".wrapper details")) each.open = false;
  }));
  form.addEventListener("click", (event) => {
    const what = event.target.dataset?.do;
    if (!what) return;
    for (const each of all(".wrapper .area, .wrapper .rule")) if (!each.closest(".out")) each.open = what === "open";
  });
  addEventListener("hashchange", follow);
  filter();
  follow();
})();

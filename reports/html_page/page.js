"use strict";
(() => {
  const form = document.querySelector("form.filter");
  const said = form.querySelector("output");
  const rules = [...document.querySelectorAll("[data-rule]")];
  const texts = new Map();

  const textOf = (rule) => {
    if (!texts.has(rule)) texts.set(rule, rule.textContent.toLowerCase());
    return texts.get(rule);
  };

  const filter = () => {
    const { words, kind, level } = form.elements;
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const rule of rules) {
      rule.hidden = Boolean(
        (kind.value && rule.dataset.kind !== kind.value) ||
          (level.value && rule.dataset.level !== level.value) ||
          !wanted.every((word) => textOf(rule).includes(word)),
      );
      shown += !rule.hidden;
    }
    for (const section of document.querySelectorAll("section.kind"))
      section.hidden = !section.querySelector("[data-rule]:not([hidden])");
    said.value = `${shown} of ${rules.length} rules shown`;
  };

  // A link to a rule leads there whatever is filtered out or folded.
  const reveal = () => {
    const target = document.querySelector(":target");
    const rule = target && target.closest("[data-rule]");
    if (!rule) return;
    if (rule.hidden) {
      form.reset();
      filter();
    }
    for (let at = rule; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };

  // Paper has nothing to unfold; browsers that know ::details-content need no help.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
    folded = [];
  });

  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", reveal);
  form.hidden = rules.length === 0;
  filter();
  if (location.hash) reveal();
})();

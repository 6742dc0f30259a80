(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  // Elements. Text is only ever set as text, never as HTML.
  const h = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === true) element.setAttribute(key, "");
      else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value);
    }
    element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
    return element;
  };
  const count = (number) => number.toLocaleString("en-US");

  // Theme

  const theme = byId("theme");
  const themes = ["system", "light", "dark"];
  const remembered = () => {
    try { return localStorage.getItem("tokdfa-theme"); } catch { return null; }
  };
  const setTheme = (name) => {
    if (name === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = name;
    theme.textContent = name === "system" ? "Theme: system" : `Theme: ${name}`;
    theme.dataset.now = name;
    try { localStorage.setItem("tokdfa-theme", name); } catch { /* Not kept, then. */ }
  };
  const nextTheme = () => setTheme(themes[(themes.indexOf(theme.dataset.now) + 1) % themes.length]);
  theme.hidden = false;
  theme.addEventListener("click", nextTheme);
  setTheme(themes.includes(remembered()) ? remembered() : "system");

  // Everything that can be scrolled can be reached with the keyboard.
  const reachable = (root) => {
    for (const box of root.querySelectorAll(".scroll")) {
      const scrolls = box.scrollWidth > box.clientWidth;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      box.classList.toggle("scrolls", scrolls);
    }
  };
  reachable(document);
  addEventListener("resize", () => reachable(document));

  const block = byId("data");
  if (!block) return;
  const data = JSON.parse(block.textContent);

  // Tokenizations above each other

  const ESCAPES = /(\\(?:[\\ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|␣)/;
  const NEAR = 2;
  const markedUp = (label) => label.split(ESCAPES).map((part, place) => (place % 2 ? h("i", {}, part) : part)).filter((part) => part !== "");
  const label = (id, tokens = data.tokens) => h("bdi", {}, markedUp(tokens[id][0]));
  const classes = (place, id, tokens = data.tokens) => `t ${place} ${tokens[id][1]}`.trimEnd();
  const small = (id) => h("small", {}, String(id));
  const mark = (known) => (known ? [h("span", { class: "mark", role: "img", "aria-label": "not allowed here" }, "✕")] : []);
  const edge = (sign, meaning, there, distance) =>
    there ? [h("td", { class: distance > NEAR ? "edge far" : "edge", rowspan: 2 }, h("span", { role: "img", "aria-label": meaning, title: meaning }, sign))] : [];

  const lane = (fields, side, absent, tokens) => {
    const rows = fields.lanes;
    const cells = rows[side].map(([id, span], place) =>
      h("td", { class: classes(side, id, tokens), colspan: span }, label(id, tokens), small(id), mark(side === "left" && place === fields.known_in)));
    const rest = rows.columns - rows[side].reduce((sum, [, span]) => sum + span, 0);
    if (rest) {
      const more = rows[`${side}_more`];
      cells.push(h("td", { class: "rest", colspan: rest }, more ? `… ${count(more)} more` : absent));
    }
    return cells;
  };

  // `names` are those of the two rows, `absent` is shown where a row has no tokens, `whole` is what the tokens belong
  // to. The second row may be of another tokenizer.
  const table = (fields, { names, absent, whole, other }) => {
    const around = (id, distance, known) =>
      h("td", { class: classes(distance > NEAR ? "around far" : "around", id), rowspan: 2 }, label(id), small(id), mark(known));
    return h("table", { class: other ? "runs ab" : "runs" }, h("tbody", {},
      h("tr", {},
        h("th", { scope: "row" }, names[0]),
        edge("⊢", `the ${whole} begins`, fields.begins, fields.before.length),
        fields.before.map((id, place) => around(id, fields.before.length - place, false)),
        lane(fields, "left", absent[0]),
        fields.behind.map((id, place) => around(id, place + 1, place === fields.known_behind)),
        edge("⊣", `the ${whole} ends`, fields.ends, fields.behind.length)),
      h("tr", {}, h("th", { scope: "row" }, names[1]), lane(fields, "right", absent[1], other))));
  };

  if (data.witness) {
    const box = byId("witness");
    box.replaceChildren(table(data.witness, data));
    box.hidden = false;
    reachable(document);
  }
  if (!data.violations) return;

  // Cards

  const state = (number, place) => h("span", { class: `state ${place}`.trimEnd() }, number === undefined ? null : String(number));

  const caption = (fields) => {
    const { states, allowed } = fields.picture;
    if (allowed === null) return [data.meanings[fields.kind]];
    const [left, right] = fields.pair;
    const sentence = [
      `State ${states[left]}, reached on `, label(left),
      `, allows ${count(allowed)} of ${count(data.live)} tokens. `, label(right), " is not one of them",
    ];
    if (fields.rule === null) return [...sentence, "."];
    return [...sentence, `: rule ${count(fields.rule)}, `, h("bdi", {}, markedUp(data.rules[fields.rule])), ", removed it."];
  };

  const picture = (fields) => {
    const picture = fields.picture;
    if (!picture) return null;
    const alone = picture.allowed !== null && picture.given[0].length === 1;
    const run = (name, [first, leftOut, last], stuck) => {
      const ids = [...first, ...(leftOut ? [null] : []), ...last];
      const parts = [h("span", { class: "name" }, name), state(alone ? picture.states[fields.pair[0]] : undefined, "start")];
      ids.forEach((id, place) => {
        if (id === null) {
          parts.push(h("span", { class: "left-out" }, `… ${count(leftOut)} more`));
          return;
        }
        const blocked = stuck && place === ids.length - 1;
        parts.push(h("span", { class: blocked ? "step blocked" : "step" }, label(id)));
        parts.push(blocked ? h("span", { class: "state none", role: "img", "aria-label": "no state" }, "✕") : state(picture.states[id], ""));
      });
      return h("div", { class: "run" }, parts);
    };
    return h("figure", { class: "picture" },
      run("given", picture.given, true),
      picture.right[0].length ? run("canonical", picture.right, false) : null,
      h("figcaption", {}, caption(fields)));
  };

  const card = (fields) => {
    const name = `v${fields.n}`;
    return h("article", { id: name, class: "card", tabindex: -1, "aria-labelledby": `${name}-title` },
      h("header", {},
        h("h3", { id: `${name}-title` }, h("a", { href: `#${name}` }, `${count(fields.n)}.`),
          ` Token ${count(fields.index)}, byte ${count(fields.byte_offset)}`),
        fields.document ? h("span", { class: "known-at" }, `${fields.document[0]}, token ${count(fields.document[1])}`) : null,
        h("span", { class: "kind" }, fields.kind),
        fields.detected_at === fields.index ? null : h("span", { class: "known-at" }, `known at token ${count(fields.detected_at)}`)),
      h("p", { class: "reason" }, fields.said.map((part, place) => (place % 2 ? h("bdi", {}, part) : part))),
      h("div", { class: "scroll", role: "group", "aria-label": "tokens" }, table(fields, {
        names: ["given", "canonical"], absent: ["nothing", fields.text ? "nothing" : "none: no text has these ids"], whole: "stream",
      })),
      picture(fields));
  };

  // The list: one page of cards at a time.

  const cards = byId("cards");
  const violations = data.violations;
  let chosen = violations;
  let size = 20;
  let page = 0;

  const input = (text, attributes) => {
    const field = h("input", attributes);
    return [h("label", { class: attributes.class }, text, field), field];
  };
  const select = (text, options) => {
    const field = h("select", {}, options.map(([value, words]) => h("option", { value }, words)));
    return [h("label", {}, text, field), field];
  };
  const button = (text, action, attributes = {}) => {
    const element = h("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", action);
    return element;
  };

  const kinds = new Map();
  for (const fields of violations) kinds.set(fields.kind, (kinds.get(fields.kind) || 0) + 1);
  const sorted = [...kinds].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const [kindLabel, kindField] = select("Kind", [
    ["", `all (${count(violations.length)})`], ...sorted.map(([kind, n]) => [kind, `${kind} (${count(n)})`])]);
  const [sizeLabel, sizeField] = select("Per page", [["20", "20"], ["50", "50"], ["200", "200"]]);
  const [findLabel, findField] = input("Find a token, an id or words", { type: "search", class: "grow", autocomplete: "off", spellcheck: "false" });
  const [goLabel, goField] = input("Go to number", { type: "number", class: "go", min: 1, max: violations.length, inputmode: "numeric" });
  const [tokenLabel, tokenField] = input("Go to token", { type: "number", min: 0, inputmode: "numeric" });
  goField.className = tokenField.className = "number-input";
  const keysField = h("input", { type: "checkbox", checked: true });
  const status = h("p", { class: "status", role: "status" });
  const previous = button("← Previous", () => move(-1));
  const next = button("Next →", () => move(1));
  const controls = h("div", { class: "controls", role: "group", "aria-label": "List of violations" },
    previous, next, goLabel, tokenLabel, kindLabel, findLabel, sizeLabel,
    h("label", { class: "inline" }, keysField, "keyboard shortcuts"), status);
  // A single violation needs no list.
  controls.hidden = violations.length < 2;
  cards.before(controls);
  if (!controls.hidden) cards.after(h("p", { class: "keys" },
    "Keys: ", h("kbd", {}, "n"), " or ", h("kbd", {}, "j"), " next, ", h("kbd", {}, "p"), " or ", h("kbd", {}, "k"), " previous, ",
    h("kbd", {}, "g"), " go to a number, ", h("kbd", {}, "/"), " find, ", h("kbd", {}, "t"), " theme."));

  const pages = () => Math.max(Math.ceil(chosen.length / size), 1);
  const below = byId("below");
  const turn = (to) => {
    show(to);
    focus(page * size, true);
  };
  const back = button("← Previous page", () => turn(page - 1));
  const where = h("span", {});
  const forth = button("Next page →", () => turn(page + 1));
  below.className = "below";
  below.append(back, where, forth);

  const show = (number) => {
    page = Math.min(Math.max(number, 0), pages() - 1);
    const first = page * size;
    const shown = chosen.slice(first, first + size);
    cards.replaceChildren(...shown.map(card));
    if (!shown.length) cards.append(h("p", {}, "No violation on this page matches."));
    const of = chosen.length === violations.length ? count(violations.length) : `${count(chosen.length)} selected from ${count(violations.length)}`;
    const others = data.total > violations.length ? `; the stream has ${count(data.total)}` : "";
    status.textContent = shown.length ? `${count(first + 1)} to ${count(first + shown.length)} of ${of}${others}.` : `0 of ${of}${others}.`;
    where.textContent = `Page ${count(page + 1)} of ${count(pages())}`;
    back.disabled = page === 0;
    forth.disabled = page === pages() - 1;
    below.hidden = pages() === 1;
    reachable(cards);
  };

  // The index in `chosen` of the current violation, -1 before the first.
  let at = -1;
  const marked = () => {
    previous.disabled = at <= 0;
    next.disabled = at >= chosen.length - 1;
  };
  const focus = (place, toTop) => {
    if (!chosen.length) return;
    at = Math.min(Math.max(place, 0), chosen.length - 1);
    if (Math.floor(at / size) !== page) show(Math.floor(at / size));
    const element = cards.children[at - page * size];
    marked();
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: toTop ? "start" : "nearest" });
  };
  const move = (steps) => focus(at + steps, true);
  cards.addEventListener("focusin", (event) => {
    const element = event.target.closest(".card");
    if (element) at = page * size + [...cards.children].indexOf(element);
    marked();
  });

  const choose = () => {
    const words = findField.value.trim().toLowerCase();
    const tokensOf = (fields) => [...fields.lanes.left, ...fields.lanes.right].map(([id]) => id);
    const fits = (fields) => (!kindField.value || fields.kind === kindField.value) && (!words
      || fields.said.join("").toLowerCase().includes(words)
      || tokensOf(fields).some((id) => String(id) === words || data.tokens[id][0].toLowerCase().includes(words)));
    chosen = violations.filter(fits);
    at = -1;
    show(0);
    marked();
  };
  kindField.addEventListener("change", choose);
  let waiting = 0;
  findField.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 120); });
  sizeField.addEventListener("change", () => {
    const first = page * size;
    size = Number(sizeField.value);
    show(Math.floor(first / size));
  });

  const goTo = (number) => {
    if (!Number.isInteger(number) || number < 1 || number > violations.length) return false;
    if (!chosen.includes(violations[number - 1])) {
      kindField.value = findField.value = "";
      choose();
    }
    focus(chosen.indexOf(violations[number - 1]), true);
    return true;
  };
  goField.addEventListener("keydown", (event) => { if (event.key === "Enter") goTo(Number(goField.value)); });

  // The first violation from a token on; violations are in order.
  const goToToken = (token) => {
    const found = violations.find((fields) => fields.index >= token) || violations[violations.length - 1];
    goTo(violations.indexOf(found) + 1);
  };
  tokenField.addEventListener("keydown", (event) => { if (event.key === "Enter" && tokenField.value) goToToken(Number(tokenField.value)); });
  for (const rect of document.querySelectorAll(".places rect")) {
    rect.addEventListener("click", () => goToToken(Number(rect.dataset.from)));
  }

  const actions = {
    n: () => move(1), j: () => move(1), p: () => move(-1), k: () => move(-1),
    g: () => goField.select(), "/": () => findField.select(), t: nextTheme,
  };
  addEventListener("keydown", (event) => {
    if (!keysField.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target.matches("input, select")) { focus(Math.max(at, page * size), false); return; }
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  const measured = () => document.documentElement.style.setProperty("--bar-height", `${
    getComputedStyle(controls).position === "sticky" ? controls.offsetHeight : 0}px`);
  const fromAddress = () => goTo(Number((/^#v(\d+)$/.exec(location.hash) || [])[1]));
  addEventListener("resize", measured);
  addEventListener("hashchange", fromAddress);
  show(0);
  marked();
  measured();
  fromAddress();
})();

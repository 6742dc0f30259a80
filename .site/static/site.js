// What can be scrolled by a finger must be reachable by the keyboard.
const reach = () => {
  for (const box of document.querySelectorAll("article pre, article .table-wrapper, article .cell_output > div")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
reach();
addEventListener("resize", reach);

// On narrow windows the theme opens its drawers by labels, which take no focus: make their icons buttons.
for (const icon of document.querySelectorAll(".nav-overlay-icon > .icon, .toc-overlay-icon > .icon")) {
  const drawer = document.getElementById(icon.parentElement.htmlFor);
  const say = () => icon.setAttribute("aria-expanded", String(drawer.checked));
  icon.tabIndex = 0;
  icon.setAttribute("role", "button");
  icon.setAttribute("aria-label", drawer.id === "__toc" ? "Contents of this page" : "Contents of the site");
  icon.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    icon.click();
  });
  drawer.addEventListener("change", say);
  say();
}

// In the search, up to three letters are found where a word of a name begins: "ci" is not a part of "special".
if (typeof Search !== "undefined") {
  const findObjects = Search.performObjectSearch;
  Search.performObjectSearch = (term, terms) => {
    const found = findObjects(term, terms);
    if (term.length > 3) return found;
    return found.filter(([, name]) => name.toLowerCase().split(/[._ ]/).some((word) => word.startsWith(term)));
  };
}

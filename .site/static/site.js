// What can be scrolled by a finger must be reachable by the keyboard.
const reach = () => {
  for (const box of document.querySelectorAll("article pre, article .table-wrapper, article .cell_output > div")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
reach();
addEventListener("resize", reach);

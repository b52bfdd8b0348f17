/* What is wider than the page can be scrolled with the keyboard. */
function nameScrolled() {
  document.querySelectorAll('.scroll, pre').forEach(function (box) {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (!wide && !box.hasAttribute('tabindex')) return;
    const table = box.querySelector('th');
    box.tabIndex = 0;
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', box.tagName === 'PRE' ? 'Document' : table ? 'Table: ' + table.textContent : 'Picture');
  });
}

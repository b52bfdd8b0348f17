/* In a narrow window a row of a wide table is a paragraph: each value has its column's title before it. */
function labelCells(table) {
  const titles = [];
  Array.from(table.rows[0].cells).forEach(function (head) {
    for (let i = 0; i < head.colSpan; i++) titles.push(head.textContent);
  });
  Array.from(table.rows).slice(1).forEach(function (row) {
    let at = 0;
    Array.from(row.cells).forEach(function (cell) {
      if (at && cell.tagName === 'TD') cell.dataset.t = titles[at] || '';
      at += cell.colSpan;
    });
  });
  table.classList.add('labelled');
}

/* What is wider than the page can be scrolled with the keyboard. */
function nameScrolled() {
  document.querySelectorAll('.scroll, pre').forEach(function (box) {
    const content = box.firstElementChild;
    function isWide() { return box.scrollWidth > box.clientWidth + 1; }
    if (isWide() && innerWidth <= 700 && content && content.rows && content.rows[0].cells.length > 3) labelCells(content);
    if (!isWide() && !box.hasAttribute('tabindex')) return;
    const table = box.querySelector('th');
    box.tabIndex = 0;
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', box.tagName === 'PRE' ? 'Document' : table ? 'Table: ' + table.textContent : 'Picture');
  });
}

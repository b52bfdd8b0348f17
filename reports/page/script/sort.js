/* Tables that a reader can sort; equal values keep their order. */
function makeSortable(table) {
  const body = table.tBodies[0];
  function value(row, column) {
    const cell = row.cells[column], number = cell.dataset.v;
    return number === undefined ? cell.textContent : number === '' ? NaN : Number(number);
  }
  function order(a, b) {
    if (typeof a === 'string' || typeof b === 'string') return String(a).localeCompare(String(b));
    return isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : a - b;
  }
  function sort(head, column) {
    const down = head.getAttribute('aria-sort') === 'ascending';
    table.querySelectorAll('th[aria-sort]').forEach(function (h) { h.removeAttribute('aria-sort'); });
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    Array.from(body.rows).map(function (row, i) { return [value(row, column), i, row]; })
      .sort(function (a, b) { return (down ? order(b[0], a[0]) : order(a[0], b[0])) || a[1] - b[1]; })
      .forEach(function (entry) { body.appendChild(entry[2]); });
  }
  table.querySelectorAll('thead th').forEach(function (head, column) {
    const button = make('button', {type: 'button', click: function () { sort(head, column); }});
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
  });
}

/* A field that hides the runs that lack one of its words; of a sweep whose line lacks one, the runs that have it are shown. Without this script all are there. */
function addFilter(place) {
  const field = make('input', {type: 'search', id: 'words', placeholder: 'words that a line has', size: 40});
  field.addEventListener('input', function () {
    const words = field.value.toLowerCase().split(/\s+/);
    function has(text) { return words.every(function (word) { return text.toLowerCase().includes(word); }); }
    document.querySelectorAll('.runs tbody').forEach(function (body) {
      const head = body.rows[0], whole = has(head.textContent);
      head.hidden = !whole;
      Array.from(body.rows).slice(1).forEach(function (cell) {
        const found = !whole && has(head.textContent + ' ' + cell.textContent);
        cell.hidden = !whole && !found;
        cell.classList.toggle('found', found);
        if (found) head.hidden = false;
      });
    });
  });
  place.append(make('label', {for: 'words', text: 'Filter '}), field);
}

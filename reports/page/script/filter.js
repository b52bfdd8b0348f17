/* A field that hides the rows of a table that lack one of its words, where the page has a place for it. Without this script all are there. */
function addFilter(place) {
  const field = make('input', {type: 'search', id: 'words', placeholder: 'words that a line has', size: 40});
  field.addEventListener('input', function () {
    const words = field.value.toLowerCase().split(/\s+/);
    document.querySelectorAll('tbody tr').forEach(function (row) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(function (word) { return text.includes(word); });
    });
  });
  place.append(make('label', {for: 'words', text: 'Filter '}), field);
}

/* A line as the plot draws it: a colour, and lengths of dashes and gaps by turns; [] is solid. */
function lineOf(colour, dash) {
  let at = 0;
  const stops = (dash.length ? dash : [1]).map(function (length, i) {
    const ink = i % 2 ? 'transparent' : colour, from = at;
    at += length;
    return ink + ' ' + from + 'px ' + at + 'px';
  });
  return 'repeating-linear-gradient(90deg, ' + stops.join(', ') + ')';
}

/* The series of a panel as buttons that show and hide them, with their values at the cursor. */
function makeLegend(panel, show) {
  const many = panel.series.length > 12;
  const list = make('div', {class: many ? 'legend many' : 'legend', role: 'group', 'aria-label': 'Series of ' + panel.label});
  const entries = panel.series.map(function (series, i) {
    const value = make('span', {class: 'value'}), sample = make('span', {class: panel.series.some(function (s) { return s.dash; }) ? 'sample long' : 'sample'});
    const button = make('button', {type: 'button', 'aria-pressed': String(series.shown)}, sample, make('span', {text: series.label}), value);
    button.addEventListener('click', function () { set(i, !series.shown); });
    list.appendChild(button);
    return {button: button, value: value, sample: sample};
  });
  function set(i, shown) {
    panel.series[i].shown = shown;
    entries[i].button.setAttribute('aria-pressed', String(shown));
    if (!shown) entries[i].value.textContent = '';
    show(i, shown);
  }
  function setAll(wanted) {
    panel.series.forEach(function (series, i) { if (series.shown !== wanted(series)) set(i, wanted(series)); });
  }
  function colour() {
    panel.series.forEach(function (series, i) {
      entries[i].sample.style.backgroundImage = lineOf(themeInk(series.colour), dashOf(series));
    });
  }
  colour();
  theme.changed.push(colour);
  const box = make('div', {class: 'legend-box'});
  if (panel.series.length > 4) box.appendChild(makeChoices(panel, setAll, many ? entries : null));
  box.appendChild(list);
  return {
    box: box,
    choose: setAll,
    show: function (values) {
      values.forEach(function (value, i) { if (panel.series[i].shown) entries[i].value.textContent = value === undefined ? '' : showNumber(value); });
    }
  };
}

/* All, none, as drawn in the picture; of many also a field that looks for a name. */
function makeChoices(panel, setAll, entries) {
  const bar = make('div', {class: 'choices'},
    make('span', {class: 'soft', text: panel.series.length + ' series:'}),
    makeButton('all', function () { setAll(function () { return true; }); }, 'Show all series of ' + panel.label),
    makeButton('none', function () { setAll(function () { return false; }); }, 'Hide all series of ' + panel.label));
  if (panel.series.some(function (s) { return !s.first; }))
    bar.appendChild(makeButton('first', function () { setAll(function (s) { return s.first; }); }, 'Show the series of ' + panel.label + ' that were shown at first'));
  if (!entries) return bar;
  const field = make('input', {type: 'search', placeholder: 'find', 'aria-label': 'Find a series of ' + panel.label});
  field.addEventListener('input', function () {
    entries.forEach(function (entry, i) { entry.button.hidden = panel.series[i].label.indexOf(field.value) < 0; });
  });
  bar.appendChild(field);
  return bar;
}

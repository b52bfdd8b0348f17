/* A figure: its panels above one another, tools above them, and what the cursor is at. */
const PANEL_HEIGHT = 190, ONE_PANEL_HEIGHT = 280;

function gutterOf(figure, width) {
  const longest = Math.max.apply(null, [0].concat.apply([0], figure.panels.map(function (panel) {
    return (panel.rows || []).map(function (name) { return name.length; });
  })));
  return Math.round(Math.max(52, Math.min(longest * 6.6 + 12 - LABEL_SIZE, width * 0.3)));
}

/* "the run: sent, Gb/s" */
function panelName(figure, panel) {
  return figure.title + ': ' + (panel.label || (panel.rows ? 'bars in ' + panel.rows.length + ' rows' : 'plot'));
}

function makePanel(figure, panel, span, last, view) {
  const box = make('div', {class: 'panel', tabindex: '0', role: 'application', 'aria-roledescription': 'plot',
    'aria-label': panelName(figure, panel) + '. ' + KEYS_HELP});
  const legend = panel.rows ? null : makeLegend(panel, function (i, shown) { plot.setSeries(i + 1, {show: shown}); });
  if (legend) view.box.appendChild(legend.box);
  view.box.appendChild(box);
  const plot = (panel.rows ? makeBars : makeCurves)(figure, panel, span, last, view.gutter, box);
  const levels = panel.levels.length ? 'Lines along: ' + panel.levels.map(function (level) { return level.label; }).join('; ') : '';
  if (panel.kept || panel.note || levels)
    view.box.appendChild(make('p', {class: 'kept', text: [panel.note, levels, panel.kept].filter(Boolean).join('. ') + '.'}));
  span.plots.push(plot);
  addKeys(plot, span, box, function () { view.announce(panel, plot); });
  return {plot: plot, panel: panel, legend: legend, extra: last ? 48 : 10};
}

function unitOf(figure) {
  return figure.x.replace(/^.*, /, '');
}

function listed(words, most) {
  return words.slice(0, most).join(', ') + (words.length > most ? ', and ' + (words.length - most) + ' more' : '');
}

/* What stands at the cursor, in words. */
function wordsAt(figure, panel, plot, x) {
  if (x === null || x === undefined) return '';
  const at = figure.x.replace(/, .*$/, '') + ' ' + showNumber(x) + ' ' + unitOf(figure);
  if (panel.rows) {
    const paused = pausedAt(panel, x, unitOf(figure));
    return at + ': ' + (paused.length ? listed(paused, 6) : 'no bar');
  }
  return at + ': ' + listed(valuesAt(plot).map(function (value, i) { return value === undefined ? null : panel.series[i].label + ' ' + showNumber(value); }).filter(Boolean), 12);
}

function makeTools(figure, span, view) {
  function tool(text, label, click) { return makeButton(text, click, label + ': ' + figure.title); }
  return make('div', {class: 'tools', role: 'group', 'aria-label': 'View of ' + figure.title},
    tool('+', 'Zoom in', function () { span.zoom(0.5, span.centre()); }),
    tool('\u2212', 'Zoom out', function () { span.zoom(2, span.centre()); }),
    tool('\u2190', 'Earlier', function () { span.pan(-0.25); }),
    tool('\u2192', 'Later', function () { span.pan(0.25); }),
    tool('link', 'Copy a link to this view', function () { view.link(); }),
    tool('reset', 'Show all', function () { span.reset(); }));
}

function makeFigure(figure, span, target) {
  const range = make('span', {class: 'soft range'}), at = make('p', {class: 'at soft', text: 'Drag to zoom; point at a plot for its values.'});
  const said = make('p', {class: 'unseen', 'aria-live': 'polite'});
  const view = {box: make('div', {class: 'interactive'}), figure: figure, span: span, key: figure.key};
  view.box.appendChild(make('div', {class: 'bar'}, make('strong', {text: figure.title}), make('span', {class: 'origin', text: figure.origin || ''}), range, makeTools(figure, span, view)));
  view.box.appendChild(at);
  view.box.appendChild(said);
  target(view.box);
  view.gutter = gutterOf(figure, view.box.clientWidth);
  view.tell = function (words) { at.textContent = said.textContent = words; };
  view.announce = function (panel, plot) { said.textContent = wordsAt(figure, panel, plot, span.x); };
  view.panels = figure.panels.map(function (panel, i) { return makePanel(figure, panel, span, i === figure.panels.length - 1, view); });
  view.zoomed = function () {
    range.textContent = span.whole() ? '' : showNumber(span.min) + ' to ' + showNumber(span.max) + ' ' + unitOf(figure);
  };
  view.pointed = function (x) {
    if (!inView(view.box)) return;
    const bars = view.panels.find(function (p) { return p.panel.rows; });
    at.textContent = x === null ? '\u00a0' : bars ? wordsAt(figure, bars.panel, bars.plot, x) : figure.x.replace(/, .*$/, '') + ' ' + showNumber(x) + ' ' + unitOf(figure);
    view.panels.forEach(function (p) { if (p.legend) p.legend.show(valuesAt(p.plot)); });
  };
  view.fit = function () {
    view.panels.forEach(function (p) {
      const width = p.plot.root.parentNode.clientWidth - 8; /* its padding */
      const height = p.panel.rows ? p.plot.height : (view.panels.length === 1 ? ONE_PANEL_HEIGHT : PANEL_HEIGHT) + p.extra;
      if (width) p.plot.setSize({width: width, height: height});
    });
  };
  const lines = figure.marks.map(function (mark) { return mark.label + ' at ' + showNumber(mark.x) + ' ' + unitOf(figure); });
  if (lines.length) view.box.appendChild(make('p', {class: 'kept', text: 'Lines across: ' + lines.join('; ') + '.'}));
  if (figure.leftOut) view.box.appendChild(make('p', {class: 'kept', text: figure.leftOut + '.'}));
  span.views.push(view);
  view.fit();
  theme.changed.push(function () { view.panels.forEach(function (p) { p.plot.redraw(); }); });
  return view;
}

function inView(box) {
  const place = box.getBoundingClientRect();
  return place.bottom > 0 && place.top < innerHeight;
}

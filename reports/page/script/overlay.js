/* The same figure of several runs in one: a run has a dash. A curve has a colour of its own while there are enough that differ, else that
 * of the same curve of the first run. */
const OVERLAY_SHOWN = 12, OVERLAY_ROWS = 64;
const OVERLAY_COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#555555', '#8a6d00', '#6a3d9a', '#b2182b', '#7fbc41', '#01665e'];

/* Labels of one curve in different runs: "h0 tx_bytes", or "h0" where all curves of a run have the same name. */
function sameCurve(a, b) {
  return a === b || a.startsWith(b + ' ') || b.startsWith(a + ' ');
}

/* Curves of all runs in one panel. Of each run so many are shown that all can be told apart. */
function overlayCurves(label, parts, runs) {
  const each = Math.max(1, Math.floor(OVERLAY_SHOWN / runs)), series = [];
  const wanted = parts[0].panel.series.filter(function (s) { return !s.more; }).slice(0, each).map(function (s) { return s.label; });
  parts.forEach(function (part) {
    function isWanted(s) { return wanted.some(function (label) { return sameCurve(label, s.label); }); }
    const same = part.panel.series.some(isWanted);
    let shown = 0;
    part.panel.series.forEach(function (s) {
      const first = same ? isWanted(s) : !s.more && shown++ < each;
      const like = parts[0].panel.series.find(function (f) { return sameCurve(f.label, s.label); });
      series.push(Object.assign({}, s, {label: part.run + ': ' + s.label, colour: (like || s).colour, dash: part.number, shown: first, first: first}));
    });
  });
  series.sort(function (a, b) { return b.first - a.first; });
  if (series.length <= OVERLAY_COLOURS.length) series.forEach(function (s, i) { s.colour = OVERLAY_COLOURS[i]; });
  const most = parts.map(function (p) { return p.panel.most; }); /* 0: as its values need */
  return {label: label, kept: keptOf(parts), levels: parts[0].panel.levels, series: series, most: Math.min.apply(null, most) && Math.max.apply(null, most)};
}

/* How the points of each run come from its samples. */
function keptOf(parts) {
  const kept = parts.map(function (part) { return part.panel.kept; }).filter(Boolean);
  if (kept.every(function (words) { return words === kept[0]; })) return kept[0];
  return parts.filter(function (part) { return part.panel.kept; }).map(function (part) { return part.run + ': ' + part.panel.kept; }).join('. ');
}

function overlayBars(parts, runs) {
  const each = Math.floor(OVERLAY_ROWS / runs), rows = [], series = [];
  parts.forEach(function (part) {
    const names = part.panel.rows.slice(0, each), from = rows.length;
    names.forEach(function (name) { rows.push(part.run + ': ' + name); });
    part.panel.series.forEach(function (s) {
      series.push(Object.assign({}, s, {y: s.y.map(function (row) { return row < each ? row + from : -1; })}));
    });
  });
  return {label: '', kept: keptOf(parts), levels: [], rows: rows, series: series, most: 0};
}

/* `figures` are of one kind, one of each run. */
function overlayOf(figures, runs) {
  const labels = [];
  figures.forEach(function (figure) {
    figure.panels.forEach(function (panel) { if (labels.indexOf(panel.label) < 0) labels.push(panel.label); });
  });
  const panels = labels.map(function (label) {
    const parts = [];
    figures.forEach(function (figure) {
      const panel = figure.panels.find(function (p) { return p.label === label; });
      if (panel) parts.push({run: figure.run, number: runs.indexOf(figure.run), panel: panel});
    });
    return parts[0].panel.rows ? overlayBars(parts, runs.length) : overlayCurves(label, parts, runs.length);
  });
  return Object.assign({}, figures[0], {
    title: figures[0].title.replace(': ' + figures[0].run, '') + ' of all runs', panels: panels,
    least: Math.min.apply(null, figures.map(function (f) { return f.least; })),
    most: Math.max.apply(null, figures.map(function (f) { return f.most; }))
  });
}

/* A section before the first run's figures. Returns the figures in it. */
function makeOverlays(figures) {
  const runs = [], kinds = [];
  figures.forEach(function (figure) {
    if (runs.indexOf(figure.run) < 0) runs.push(figure.run);
    if (kinds.indexOf(figure.kind) < 0) kinds.push(figure.kind);
  });
  if (runs.length < 2) return [];
  let heading = figures[0].place;
  while (heading.previousElementSibling && heading.tagName !== 'H2') heading = heading.previousElementSibling;
  const section = make('section', {class: 'overlays'}, make('h2', {text: 'All runs over time'}));
  heading.parentNode.insertBefore(section, heading);
  return kinds.map(function (kind) { return figures.filter(function (f) { return f.kind === kind; }); })
    .filter(function (same) { return same.length > 1; })
    .map(function (same) {
      const figure = overlayOf(same, runs), place = make('figure', {});
      section.appendChild(place);
      figure.place = place;
      return figure;
    });
}

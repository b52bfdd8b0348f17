/* The same figure of several runs in one: a run has a dash. A curve has a colour of its own while there are enough that differ, else that
 * of the same curve of the first run. */
const OVERLAY_SHOWN = 12, OVERLAY_ROWS = 64;
const OVERLAY_COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#555555', '#8a6d00', '#6a3d9a', '#b2182b', '#7fbc41', '#01665e'];

/* Labels of one curve in different runs: "h0 tx_bytes", or "h0" where all curves of a run have the same name. */
function sameCurve(a, b) {
  return a === b || a.startsWith(b + ' ') || b.startsWith(a + ' ');
}

/* "a: ...; b: ..." of parts that have something to say; once, if all say the same. */
function saidOf(parts, words) {
  const said = parts.map(function (part) { return words(part) || ''; });
  if (said.every(function (s) { return s === said[0]; })) return said[0];
  return parts.map(function (part, i) { return said[i] && part.run + ': ' + said[i]; }).filter(Boolean).join('; ');
}

function keptOf(part) {
  return [part.panel.note, part.panel.kept].filter(Boolean).join('. ');
}

function highest(series) {
  return series.y.reduce(function (most, y) { return Math.max(most, y); }, -Infinity);
}

/* The labels of the curves that are shown at first: of those that the runs' pictures have, the highest, so many that all can be told apart. */
function wantedLabels(parts, each) {
  const most = new Map();
  parts.forEach(function (part) {
    part.panel.series.filter(function (s) { return !s.more; }).forEach(function (s) {
      const known = Array.from(most.keys()).find(function (label) { return sameCurve(label, s.label); }) || s.label;
      most.set(known, Math.max(most.has(known) ? most.get(known) : -Infinity, highest(s)));
    });
  });
  const labels = Array.from(most.keys());
  const chosen = labels.slice().sort(function (a, b) { return most.get(b) - most.get(a); }).slice(0, each);
  return labels.filter(function (label) { return chosen.indexOf(label) >= 0; });
}

/* Lines of all runs; one that they share has no run before its name. */
function levelsOf(parts) {
  const all = [];
  parts.forEach(function (part) {
    part.panel.levels.forEach(function (level) {
      const same = parts.every(function (p) { return p.panel.levels.some(function (l) { return l.y === level.y && l.label === level.label; }); });
      const label = same ? level.label : part.run + ': ' + level.label;
      if (!all.some(function (l) { return l.label === label && l.y === level.y; })) all.push({y: level.y, label: label});
    });
  });
  return all;
}

/* Curves of all runs in one panel. */
function overlayCurves(label, parts, runs) {
  const each = Math.max(1, Math.floor(OVERLAY_SHOWN / runs)), common = wantedLabels(parts, each), series = [];
  parts.forEach(function (part) {
    function isIn(labels) { return function (s) { return labels.some(function (label) { return sameCurve(label, s.label); }); }; }
    const isWanted = isIn(part.panel.series.some(isIn(common)) ? common : wantedLabels([part], each));
    const taken = []; /* "h0" of the first run may be two curves of this one */
    part.panel.series.forEach(function (s) {
      const first = isWanted(s);
      const like = parts[0].panel.series.find(function (f) { return sameCurve(f.label, s.label); });
      const colour = [(like || s).colour, s.colour].concat(OVERLAY_COLOURS).find(function (c) { return taken.indexOf(c) < 0; }) || s.colour;
      taken.push(colour);
      series.push(Object.assign({}, s, {label: part.run + ': ' + s.label, colour: colour, dash: part.number, shown: first, first: first}));
    });
  });
  series.sort(function (a, b) { return b.first - a.first; });
  if (series.length <= OVERLAY_COLOURS.length) series.forEach(function (s, i) { s.colour = OVERLAY_COLOURS[i]; });
  const most = parts.map(function (p) { return p.panel.most; }); /* 0: as its values need */
  const shown = series.filter(function (s) { return s.shown; }).length;
  const note = shown < series.length ? shown + ' of ' + series.length + ' curves are shown at first, the highest of the runs\' pictures; buttons show the others' : '';
  return {label: label, note: note, kept: saidOf(parts, keptOf), levels: levelsOf(parts), series: series,
    most: Math.min.apply(null, most) && Math.max.apply(null, most)};
}

/* How long the bars of each row are together. */
function lengthsOf(panel) {
  const lengths = panel.rows.map(function () { return 0; });
  panel.series.forEach(function (s) { s.y.forEach(function (row, i) { lengths[row] += s.width[i]; }); });
  return lengths;
}

/* Of each run, the rows with the longest bars, in their order. */
function overlayBars(label, parts, runs) {
  const each = Math.max(1, Math.floor(OVERLAY_ROWS / runs)), rows = [], series = [];
  parts.forEach(function (part) {
    const lengths = lengthsOf(part.panel), place = new Map();
    part.panel.rows.map(function (name, i) { return i; }).sort(function (a, b) { return lengths[b] - lengths[a] || a - b; }).slice(0, each)
      .sort(function (a, b) { return a - b; }).forEach(function (i) {
        place.set(i, rows.length);
        rows.push(part.run + ': ' + part.panel.rows[i]);
      });
    part.left = part.panel.rows.length - place.size;
    part.panel.series.forEach(function (s) {
      series.push(Object.assign({}, s, {y: s.y.map(function (row) { return place.has(row) ? place.get(row) : -1; })}));
    });
  });
  const note = saidOf(parts, function (part) {
    return part.left && (part.panel.rows.length - part.left) + ' of ' + part.panel.rows.length + ' rows, those with the longest bars';
  });
  return {label: label, note: note, kept: saidOf(parts, keptOf), levels: [], rows: rows, series: series, most: 0};
}

/* Where something happens in the runs; what is the same in all has no run before its name. */
function marksOf(figures) {
  const all = [];
  function isIn(mark) { return function (m) { return m.x === mark.x && m.label === mark.label; }; }
  figures.forEach(function (figure) {
    figure.marks.forEach(function (mark) {
      const same = figures.every(function (f) { return f.marks.some(isIn(mark)); });
      const own = {x: mark.x, label: same ? mark.label : figure.run + ': ' + mark.label};
      if (!all.some(isIn(own))) all.push(own);
    });
  });
  return all.sort(function (a, b) { return a.x - b.x; });
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
    return parts[0].panel.rows ? overlayBars(label, parts, runs.length) : overlayCurves(label, parts, runs.length);
  });
  const whole = figures.reduce(function (most, f) { return f.panels.length > most.panels.length ? f : most; });
  return Object.assign({}, figures[0], {
    title: whole.title.replace(': ' + whole.run, '') + (figures.length < runs.length ? ' of ' + figures.length + ' of ' + runs.length + ' runs' : ' of all runs'),
    origin: saidOf(figures, function (f) { return f.origin || 'measured'; }).replace(/^measured$/, ''), panels: panels, marks: marksOf(figures),
    leftOut: saidOf(figures, function (f) { return f.leftOut; }),
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
  let heading = (figures.find(function (f) { return !f.place.closest('.first'); }) || figures[0]).place;
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

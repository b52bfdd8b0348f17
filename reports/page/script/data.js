/* The figures' data, which reports/drawing/plot_data.c writes. Times of all figures are in one unit. */
function readFigures() {
  const figures = Array.from(document.querySelectorAll('script.plot')).map(function (script) {
    const figure = JSON.parse(script.textContent);
    figure.place = script.closest('figure');
    figure.run = script.dataset.run;
    figure.kind = figure.name.replace(/^\d+-/, '');
    figure.time = /^time, (ms|s)$/.test(figure.x);
    figure.panels.forEach(function (panel) {
      panel.series.forEach(function (series, i) { if (!series.x) series.x = panel.series[i - 1].x; });
    });
    return figure;
  });
  if (figures.some(function (f) { return f.x === 'time, s'; }))
    figures.filter(function (f) { return f.x === 'time, ms'; }).forEach(inSeconds);
  return figures;
}

function inSeconds(figure) {
  const done = new Map();
  function scaled(values) {
    if (!done.has(values)) done.set(values, values.map(function (v) { return v / 1000; }));
    return done.get(values);
  }
  figure.x = 'time, s';
  figure.least /= 1000;
  figure.most /= 1000;
  figure.marks.forEach(function (mark) { mark.x /= 1000; });
  figure.panels.forEach(function (panel) {
    panel.series.forEach(function (series) {
      series.x = scaled(series.x);
      if (series.width) series.width = scaled(series.width);
    });
  });
}

/* The range of x that the figure shows at first. */
function rangeOf(figure) {
  if (figure.most > figure.least) return [figure.least, figure.most];
  let least = Infinity, most = -Infinity;
  figure.panels.forEach(function (panel) {
    panel.series.forEach(function (series) {
      series.x.forEach(function (x) {
        if (figure.log && x <= 0) return;
        least = Math.min(least, x);
        most = Math.max(most, x);
      });
    });
  });
  if (figure.log && least < most && most < least * 2) return [least / 2, most * 2];
  return least < most ? [least, most] : isFinite(least) ? [least / 2, least * 2 || 1] : [0, 1];
}

/* Columns over one x, as uPlot takes them. Where a series has no point at an x, it has undefined. */
function aligned(list) {
  const first = list[0].x;
  if (list.every(function (s) { return s.x === first; })) return [first].concat(list.map(function (s) { return s.y; }));
  return uPlot.join(list.map(function (s) { return [s.x, s.y]; }));
}

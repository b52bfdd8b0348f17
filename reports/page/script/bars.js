/* Pauses as bars in a row for each port and priority. */
const ROW_HEIGHT = 17;

/* For each row its bars, sorted by their beginnings. */
function rowsOf(panel) {
  const rows = panel.rows.map(function () { return []; });
  panel.series.forEach(function (series) {
    series.x.forEach(function (x, i) {
      if (rows[series.y[i]]) rows[series.y[i]].push({from: x, to: x + series.width[i], colour: series.colour});
    });
  });
  rows.forEach(function (bars) { bars.sort(function (a, b) { return a.from - b.from; }); });
  return rows;
}

/* The bar of a row that is over x, if there is one. */
function barAt(bars, x) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bars[middle].from <= x) low = middle + 1;
    else high = middle;
  }
  return low && bars[low - 1].to >= x ? bars[low - 1] : null;
}

function drawBars(plot, rows) {
  const context = plot.ctx, box = plot.bbox, ratio = devicePixelRatio;
  const thick = Math.max(3 * ratio, Math.min(9 * ratio, box.height / rows.length * 0.6));
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  rows.forEach(function (bars, row) {
    const y = plot.valToPos(row, 'y', true) - thick / 2;
    bars.forEach(function (bar) {
      const from = plot.valToPos(bar.from, 'x', true), to = plot.valToPos(bar.to, 'x', true);
      if (to < box.left || from > box.left + box.width) return;
      context.fillStyle = themeInk(bar.colour);
      context.fillRect(from, y, Math.max(to - from, ratio), thick);
    });
  });
  context.restore();
}

/* Of a long name the middle is left out: it begins with the run, and ends with the port and priority. */
function rowName(name, room) {
  const fits = Math.max(8, Math.floor(room / 6.6)), half = Math.floor((fits - 1) / 2);
  return name.length <= fits ? name : name.slice(0, fits - 1 - half) + '\u2026' + name.slice(name.length - half);
}

function makeBars(figure, panel, span, last, gutter, target) {
  const rows = rowsOf(panel);
  panel.bars = rows;
  const options = plotOptions(figure, span, {
    height: rows.length * ROW_HEIGHT + (last ? 66 : 28),
    scales: {
      x: {time: false, range: function () { return [span.min, span.max]; }},
      y: {range: [-0.7, rows.length - 0.3], dir: -1}
    },
    axes: [xAxis(figure, last),
      axis({scale: 'y', size: gutter + LABEL_SIZE, gap: 4, grid: {show: false}, ticks: {show: false},
        splits: function () { return rows.map(function (bars, i) { return i; }); },
        values: function (plot, splits) { return splits.map(function (i) { return rowName(panel.rows[i], gutter + LABEL_SIZE - 8); }); }})],
    series: [{}, {show: true, points: {show: false}, paths: function () { return null; }}]
  });
  options.cursor = Object.assign({}, options.cursor, {points: {show: false}});
  options.hooks.draw = [function (plot) { drawBars(plot, rows); drawMarks(plot, figure, panel); }];
  return new uPlot(options, [[span.least, span.most], [null, null]], target);
}

/* "h0 priority 3 (18.3 us)", of the rows that have a bar at x. */
function pausedAt(panel, x, unit) {
  const factor = unit === 'ms' ? 1e3 : 1e6;
  return panel.rows.map(function (name, row) {
    const bar = barAt(panel.bars[row], x);
    return bar && name + ' (' + showNumber(Number(((bar.to - bar.from) * factor).toPrecision(4))) + ' us)';
  }).filter(Boolean);
}

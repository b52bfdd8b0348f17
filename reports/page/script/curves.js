/* A panel of curves, drawn by uPlot. */
const DASHES = [[], [9, 4], [2, 3], [12, 3, 2, 3], [5, 2], [16, 5], [1, 5], [9, 2, 1, 2, 1, 2]];

function dashOf(series) {
  return DASHES[(series.dash || 0) % DASHES.length];
}

const LABEL_SIZE = 18; /* beside the numbers of the y axis; bars have none, and begin at the same place */

/* A line from zero for each point. */
function impulses(plot, index, from, to) {
  const path = new Path2D(), xs = plot.data[0], ys = plot.data[index], zero = plot.valToPos(0, 'y', true);
  for (let i = from; i <= to; i++) {
    if (ys[i] === undefined || ys[i] === null) continue;
    const x = plot.valToPos(xs[i], 'x', true);
    path.moveTo(x, zero);
    path.lineTo(x, plot.valToPos(ys[i], 'y', true));
  }
  return {stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 1};
}

function curveOf(series) {
  return {
    label: series.label,
    show: series.shown,
    stroke: function () { return themeInk(series.colour); },
    dash: dashOf(series),
    width: 1.6,
    points: {show: series.style === 'points', size: 6},
    paths: series.style === 'steps' ? uPlot.paths.stepped({align: 1})
      : series.style === 'impulses' ? impulses
      : series.style === 'points' ? function () { return null; } : uPlot.paths.linear()
  };
}

/* Zero is in the range, and a little room is above. */
function rangeOfValues(panel) {
  return function (plot, least, most) {
    const low = least < 0 ? least * 1.08 : 0;
    if (panel.most) return [low, panel.most];
    return [low, most > low ? most + (most - low) * 0.08 : low + 1];
  };
}

function drawLevels(plot, panel) {
  const context = plot.ctx, box = plot.bbox, ratio = devicePixelRatio;
  context.save();
  context.font = 11 * ratio + 'px system-ui, sans-serif';
  context.textAlign = 'right';
  context.fillStyle = context.strokeStyle = themeColour('soft');
  context.lineWidth = ratio;
  context.setLineDash([3 * ratio, 3 * ratio]);
  panel.levels.forEach(function (level) {
    const y = plot.valToPos(level.y, 'y', true);
    if (y < box.top || y > box.top + box.height) return;
    context.beginPath();
    context.moveTo(box.left, y);
    context.lineTo(box.left + box.width, y);
    context.stroke();
    context.fillText(level.label, box.left + box.width - 4 * ratio, y - 4 * ratio);
  });
  context.restore();
}

/* Where something happens: a line in each panel, words in the first. */
function drawMarks(plot, figure, panel) {
  const context = plot.ctx, box = plot.bbox, ratio = devicePixelRatio;
  let free = -Infinity;
  context.save();
  context.font = 11 * ratio + 'px system-ui, sans-serif';
  context.textAlign = 'left';
  context.fillStyle = context.strokeStyle = themeColour('mark');
  context.lineWidth = ratio;
  context.setLineDash([5 * ratio, 3 * ratio]);
  figure.marks.forEach(function (mark) {
    const x = plot.valToPos(mark.x, 'x', true);
    if (x < box.left || x > box.left + box.width) return;
    context.beginPath();
    context.moveTo(x, box.top);
    context.lineTo(x, box.top + box.height);
    context.stroke();
    const width = context.measureText(mark.label).width, left = Math.min(x + 4 * ratio, box.left + box.width - width);
    if (panel !== figure.panels[0] || left < free) return;
    context.fillText(mark.label, left, box.top - 2 * ratio);
    free = left + width + 8 * ratio;
  });
  context.restore();
}

function axis(more) {
  const soft = function () { return themeColour('soft'); }, line = function () { return themeColour('line'); };
  return Object.assign({
    stroke: soft, font: '12px system-ui, sans-serif', labelFont: '12px system-ui, sans-serif',
    grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1, size: 4}
  }, more);
}

function xAxis(figure, last) {
  return axis({
    scale: 'x', side: 2, size: last ? 28 : 10, labelSize: 20, label: last ? figure.x.replace(/^time,/, 'time since the measure phase began,') : undefined, space: 70,
    values: last ? function (plot, splits) { return showTicks(splits); }
      : function (plot, splits) { return splits.map(function () { return ''; }); }
  });
}

/* Common to curves and bars: the cursor, zooming by dragging, and the span. */
function plotOptions(figure, span, more) {
  return Object.assign({
    width: 600, height: 200, padding: [figure.marks.length ? 16 : 10, 18, 0, 0],
    legend: {show: false},
    cursor: {y: false, drag: {x: true, y: false, setScale: false, dist: 4}, points: {size: 7}},
    hooks: {
      setSelect: [function (plot) {
        const left = plot.select.left, width = plot.select.width;
        if (width < 4) return;
        plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
        span.set(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
      }],
      setCursor: [function (plot) {
        const left = plot.cursor.left;
        span.point(left < 0 || left === undefined ? null : plot.posToVal(left, 'x'), plot);
      }]
    }
  }, more);
}

function makeCurves(figure, panel, span, last, gutter, target) {
  const options = plotOptions(figure, span, {
    scales: {
      x: {time: false, distr: figure.log ? 3 : 1, range: function () { return [span.min, span.max]; }},
      y: {range: rangeOfValues(panel)}
    },
    axes: [xAxis(figure, last),
      axis({scale: 'y', size: gutter, label: panel.label, labelSize: LABEL_SIZE, space: 32,
        values: function (plot, splits) { return showTicks(splits); }})],
    series: [{}].concat(panel.series.map(curveOf))
  });
  options.cursor = Object.assign({}, options.cursor, {hover: {skip: [undefined, null], prox: nearSeries(panel)}});
  options.hooks.draw = [function (plot) { drawLevels(plot, panel); drawMarks(plot, figure, panel); }];
  return new uPlot(options, aligned(panel.series), target);
}

/* Nothing is at the cursor where a run has ended, or not begun: how far from a series' points that is, in pixels. */
function nearSeries(panel) {
  return function (plot, index, closest, x) {
    const xs = panel.series[index - 1].x, room = (xs[xs.length - 1] - xs[0]) / xs.length;
    return x < xs[0] - 2 * room || x > xs[xs.length - 1] + 2 * room ? 0 : 1e9;
  };
}

/* What the cursor is at: for each series its nearest sample, or undefined. */
function valuesAt(plot) {
  return plot.series.slice(1).map(function (series, i) {
    const index = plot.cursor.idxs[i + 1];
    return series.show && index !== null && index !== undefined ? plot.data[i + 1][index] : undefined;
  });
}

/* What part of the x axis is shown, and where the cursor is: common to all plots of a span. All plots over time have the same one. */
function makeSpan(least, most, log) {
  const span = {least: least, most: most, min: least, max: most, log: log, plots: [], views: [], moving: false};
  const there = log ? Math.log : function (v) { return v; }, back = log ? Math.exp : there;

  span.set = function (min, max) {
    const tiny = (there(span.most) - there(span.least)) / 1e6;
    min = Math.max(min, span.least);
    max = Math.min(max, span.most);
    if (!(there(max) - there(min) > tiny)) return;
    span.min = min;
    span.max = max;
    span.plots.forEach(function (plot) { plot.setScale('x', {min: span.min, max: span.max}); });
    span.views.forEach(function (view) { view.zoomed(); });
  };
  span.reset = function () { span.set(span.least, span.most); };
  span.whole = function () { return span.min === span.least && span.max === span.most; };
  /* Show `factor` as much, with the value at `centre` where it is. */
  span.zoom = function (factor, centre) {
    const from = there(span.min), to = there(span.max), at = there(centre);
    const least = there(span.least), most = there(span.most);
    const width = Math.min((to - from) * factor, most - least);
    const start = Math.min(Math.max(at - (at - from) * (width / (to - from)), least), most - width);
    span.set(width === most - least ? span.least : back(start), width === most - least ? span.most : back(start + width));
  };
  span.pan = function (share) {
    const from = there(span.min), width = there(span.max) - from;
    const start = Math.min(Math.max(from + width * share, there(span.least)), there(span.most) - width);
    span.set(back(start), back(start + width));
  };
  /* The cursor of all plots follows that of one; x null: there is none. */
  span.point = function (x, source) {
    if (span.moving) return;
    span.moving = true;
    span.x = x;
    if (x !== null) span.last = x;
    span.plots.forEach(function (plot) {
      if (plot !== source) plot.setCursor({left: x === null ? -10 : plot.valToPos(x, 'x'), top: x === null ? -10 : plot.over.clientHeight / 2});
    });
    span.views.forEach(function (view) { view.pointed(x); });
    span.moving = false;
  };
  /* Where keys and buttons zoom: at the cursor if it is in view. */
  span.centre = function () {
    if (span.x !== null && span.x !== undefined && span.x >= span.min && span.x <= span.max) return span.x;
    return back((there(span.min) + there(span.max)) / 2);
  };
  return span;
}

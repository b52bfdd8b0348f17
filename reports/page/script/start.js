/* Without the library, and for a figure that cannot be drawn, the pictures stay. */
function startFigures() {
  const figures = readFigures();
  figures.forEach(function (figure) {
    figure.panels.forEach(function (panel) { panel.series.forEach(function (s) { s.first = s.shown = !s.more; }); });
  });
  const overlays = makeOverlays(figures), all = overlays.concat(figures);
  all.forEach(function (figure) { figure.key = overlays.indexOf(figure) >= 0 ? 'all-' + figure.kind : figure.name; });
  const timed = all.filter(function (f) { return f.time; }).map(rangeOf);
  const time = makeSpan(Math.min.apply(null, timed.map(function (r) { return r[0]; })), Math.max.apply(null, timed.map(function (r) { return r[1]; })), false);
  const views = all.map(function (figure) {
    const range = rangeOf(figure);
    const view = makeFigure(figure, figure.time ? time : makeSpan(range[0], range[1], figure.log), function (box) {
      figure.place.insertBefore(box, figure.place.firstChild);
    });
    figure.place.querySelectorAll('.picture, .picture-note').forEach(function (part) { part.classList.add('replaced'); });
    return view;
  });
  makeLinks(views, time);
  let width = innerWidth;
  addEventListener('resize', function () {
    if (innerWidth === width) return;
    width = innerWidth;
    views.forEach(function (view) { view.fit(); });
  });
}

document.addEventListener('DOMContentLoaded', function () {
  addThemeSwitch();
  document.querySelectorAll('#filter').forEach(addFilter);
  document.querySelectorAll('table.sortable').forEach(makeSortable);
  if (typeof uPlot === 'function') startFigures();
  nameScrolled();
  addEventListener('resize', nameScrolled);
});

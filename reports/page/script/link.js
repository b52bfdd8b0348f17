/* A view as the fragment of the page's address: what is zoomed into and pointed at, which series are shown, and which figure is in sight.
 * Times are in ms, whatever the page shows them in. "run" and no "at": the figure that shows the run's pauses, or its first over time. */
function makeLinks(views, time) {
  const inMs = views.some(function (v) { return v.figure.x === 'time, s'; }) ? 1000 : 1;
  function digits(value) { return Number(value.toPrecision(9)); }
  function numbers(words, name) { return (words.get(name) || '').split(',').map(parseFloat); }

  function fragmentOf(view) {
    const words = new URLSearchParams({at: view.key});
    if (!time.whole()) words.set('t', [time.min, time.max].map(function (t) { return digits(t * inMs); }).join());
    if (isFinite(time.last)) words.set('x', digits(time.last * inMs));
    views.forEach(function (v) {
      if (v.span !== time && !v.span.whole()) words.set('z.' + v.key, [v.span.min, v.span.max].map(digits).join());
      v.panels.forEach(function (p, i) {
        const changed = p.panel.series.map(function (s, k) { return s.shown !== s.first ? k : -1; }).filter(function (k) { return k >= 0; });
        if (p.legend && changed.length) words.set('s.' + v.key + '.' + i, changed.join());
      });
    });
    return '#' + words.toString().replace(/%2C/g, ',');
  }

  function follow() {
    const words = new URLSearchParams(location.hash.slice(1)), run = words.get('run');
    const view = views.find(function (v) { return v.key === words.get('at'); }) || (run !== null && (
      views.find(function (v) { return v.figure.run === run && v.figure.kind === 'timeline'; }) ||
      views.find(function (v) { return v.figure.run === run && v.figure.time; })));
    if (!view) return;
    const t = numbers(words, 't'), x = numbers(words, 'x')[0] / inMs;
    time.reset();
    if (t.length === 2) time.set(t[0] / inMs, t[1] / inMs);
    views.forEach(function (v) {
      const z = numbers(words, 'z.' + v.key);
      if (v.span !== time) v.span.reset();
      if (v.span !== time && z.length === 2) v.span.set(z[0], z[1]);
      v.panels.forEach(function (p, i) {
        const changed = numbers(words, 's.' + v.key + '.' + i);
        if (p.legend) p.legend.choose(function (s) { return s.first !== (changed.indexOf(p.panel.series.indexOf(s)) >= 0); });
      });
    });
    view.box.scrollIntoView();
    if (x >= time.min && x <= time.max) requestAnimationFrame(function () { time.point(x); }); /* plots are drawn then */
  }

  views.forEach(function (view) {
    view.link = function () {
      history.replaceState(null, '', fragmentOf(view));
      const there = function () { view.tell('The address of this page has this view now.'); };
      if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(function () { view.tell('A link to this view is copied.'); }, there);
      else there();
    };
  });
  addEventListener('hashchange', follow);
  follow();
}

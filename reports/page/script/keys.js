/* A panel by keyboard and wheel: it has the focus then, so that the wheel scrolls the page elsewhere. */
const KEYS_HELP = 'Left and right move the cursor, with Shift the view; plus and minus zoom; Home and End are the ends; 0 shows all.';

function moveCursor(plot, span, steps) {
  const xs = plot.data[0], room = plot.over.clientWidth;
  let x = span.centre();
  if (xs.length > 2) {
    let index = plot.valToIdx(x);
    if (xs[index] === x || steps === 0) index += steps;
    else if ((xs[index] - x) * steps < 0) index += steps;
    x = xs[Math.min(Math.max(index, 0), xs.length - 1)];
  } else {
    x = plot.posToVal(plot.valToPos(x, 'x') + steps * room / 200, 'x');
  }
  pointAt(plot, span, Math.min(Math.max(x, span.least), span.most));
}

function pointAt(plot, span, x) {
  if (x < span.min) span.pan((x - span.min) / (span.max - span.min) - 0.5);
  if (x > span.max) span.pan((x - span.max) / (span.max - span.min) + 0.5);
  /* exactly at x: what follows reads the span's x, not the pixel's */
  span.moving = true;
  plot.setCursor({left: plot.valToPos(x, 'x'), top: plot.over.clientHeight / 2});
  span.moving = false;
  span.point(x, plot);
}

function addKeys(plot, span, box, announce) {
  const keys = {
    ArrowLeft: function () { moveCursor(plot, span, -1); },
    ArrowRight: function () { moveCursor(plot, span, 1); },
    '+': function () { span.zoom(0.5, span.centre()); },
    '=': function () { span.zoom(0.5, span.centre()); },
    '-': function () { span.zoom(2, span.centre()); },
    '0': function () { span.reset(); },
    Escape: function () { span.reset(); },
    Home: function () { pointAt(plot, span, span.least); },
    End: function () { pointAt(plot, span, span.most); }
  };
  box.addEventListener('keydown', function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== box) return;
    const pan = event.shiftKey && {ArrowLeft: -0.25, ArrowRight: 0.25}[event.key];
    if (!pan && !keys[event.key]) return;
    event.preventDefault();
    if (pan) span.pan(pan);
    else keys[event.key]();
    announce();
  });
  plot.over.addEventListener('mousedown', function () { box.focus({preventScroll: true}); });
  plot.over.addEventListener('dblclick', function () { span.reset(); });
  plot.over.addEventListener('wheel', function (event) {
    if (document.activeElement !== box && !event.ctrlKey) return;
    event.preventDefault();
    const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x');
    span.zoom(event.deltaY < 0 ? 0.8 : 1.25, at);
  }, {passive: false});
}

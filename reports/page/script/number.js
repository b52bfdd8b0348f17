/* Numbers as readers see them: six digits, thousands apart. */
function showNumber(value) {
  if (value === null || value === undefined || !isFinite(value)) return '\u2013';
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e12)) return value.toExponential(3);
  const parts = String(Number(value.toPrecision(6))).split('.');
  parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return parts.join('.');
}

/* For an axis: 1.5 M instead of 1 500 000, all in one unit. */
function showTicks(values) {
  const most = Math.max.apply(null, values.map(function (v) { return Math.abs(v || 0); }));
  const unit = [[1e9, ' G'], [1e6, ' M'], [1e5, ' k']].find(function (u) { return most >= u[0]; });
  const size = !unit ? 1 : unit[1] === ' k' ? 1e3 : unit[0];
  return values.map(function (v) { return v === null ? '' : showNumber(v / size) + (unit && v ? unit[1] : ''); });
}

/* Light, dark, or what the reader's system prefers. Without this script the page follows the system. */
const theme = {
  changed: [],
  dark: function () {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  },
  tell: function () { theme.changed.forEach(function (changed) { changed(); }); }
};

function addThemeSwitch() {
  const choice = make('select', {id: 'theme'});
  [['', 'as the system'], ['light', 'light'], ['dark', 'dark']].forEach(function (option) {
    choice.appendChild(make('option', {value: option[0], text: option[1]}));
  });
  choice.addEventListener('change', function () {
    if (choice.value) document.documentElement.dataset.theme = choice.value;
    else delete document.documentElement.dataset.theme;
    theme.tell();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme.tell);
  const main = document.querySelector('main');
  main.insertBefore(make('div', {class: 'theme'}, make('label', {for: 'theme', text: 'Colours'}), choice), main.firstChild);
}

/* A value of the style sheet. */
function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

/* A curve's colour, lighter on a dark page. */
function themeInk(colour) {
  if (!theme.dark()) return colour;
  const parts = [1, 3, 5].map(function (i) { return parseInt(colour.slice(i, i + 2), 16); });
  const light = 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2];
  const share = light < 150 ? (150 - light) / (255 - light) : 0;
  return 'rgb(' + parts.map(function (part) { return Math.round(part + (255 - part) * share); }).join(',') + ')';
}

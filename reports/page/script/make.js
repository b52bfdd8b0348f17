/* Elements with text: data reach the document as text nodes and attributes alone, never as markup. */
function make(kind, attributes, ...children) {
  const element = document.createElement(kind);
  Object.keys(attributes || {}).forEach(function (name) {
    if (name === 'text') element.textContent = attributes.text;
    else if (name === 'click') element.addEventListener('click', attributes.click);
    else element.setAttribute(name, attributes[name]);
  });
  children.forEach(function (child) { if (child) element.appendChild(child); });
  return element;
}

function makeButton(text, click, label) {
  return make('button', Object.assign({type: 'button', text: text, click: click}, label ? {'aria-label': label, title: label} : {}));
}

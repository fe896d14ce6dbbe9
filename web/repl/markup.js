// Builds what objects return from `_repr_html_`, from the tree that `markup.py` makes of it.
//
// Only the elements and attributes listed here are built, so that no script, form or frame comes
// into the page, whatever a program writes. Each result has a shadow root of its own: its styles
// stay there, and are style sheets made by script, which the Content-Security-Policy permits.

const SVG = "http://www.w3.org/2000/svg";

const words = (text) => new Set(text.trim().split(/\s+/));

const HTML_ELEMENTS = words(`
  a abbr b blockquote br caption code col colgroup dd details div dl dt em figcaption figure
  h1 h2 h3 h4 h5 h6 hr i img kbd li mark meter ol p pre progress q s samp section small span
  strong sub summary sup table tbody td tfoot th thead time tr u ul var`);

const SVG_ELEMENTS = words(`
  circle clipPath defs desc ellipse g image line linearGradient marker path pattern polygon polyline
  radialGradient rect stop svg text title tspan`);

const ATTRIBUTES = words(`
  align alt aria-describedby aria-hidden aria-label aria-labelledby bgcolor border class colspan
  d cx cy dx dy dominant-baseline fill fill-opacity font-family font-size font-weight
  gradientTransform gradientUnits height id image-rendering lang marker-end marker-start
  markerHeight markerUnits markerWidth max min offset open opacity orient points
  preserveAspectRatio r refX refY role rowspan rx ry scope stop-color stop-opacity stroke stroke-dasharray
  stroke-linecap stroke-linejoin stroke-opacity stroke-width tabindex text-anchor title transform
  valign value viewBox width x x1 x2 y y1 y2`);

const PICTURE = /^(data:image\/(png|jpeg|gif|webp|svg\+xml)|blob:)/;
const LINK = /^(https?:|#)/;

const outputStyles = loadStyles();

/** Returns an element with a result's nodes in its shadow root. */
export function markup(nodes) {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [outputStyles, ...styleSheets(nodes)];
  root.append(...build(nodes, false));
  return host;
}

function loadStyles() {
  const sheet = new CSSStyleSheet();
  fetch(new URL("output.css", import.meta.url))
    .then((response) => response.text())
    .then((text) => sheet.replace(text));
  return sheet;
}

function build(nodes, isInSvg) {
  return nodes.flatMap((node) => {
    if (typeof node === "string") {
      return [document.createTextNode(node)];
    }
    const [tag, attributes, children] = node;
    const isSvg = tag === "svg" || (isInSvg && SVG_ELEMENTS.has(tag));
    if (!isSvg && !HTML_ELEMENTS.has(tag)) {
      return tag === "script" || tag === "style" ? [] : build(children, isInSvg);
    }
    const element = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      setAttribute(element, name, value);
    }
    element.append(...build(children, isSvg));
    return [element];
  });
}

function setAttribute(element, name, value) {
  if (name === "style") {
    element.style.cssText = value;
  } else if (name === "src" && PICTURE.test(value)) {
    element.src = value;
  } else if (name === "href" && element.localName === "image" && PICTURE.test(value)) {
    element.setAttribute("href", value);
  } else if (name === "href" && element.localName === "a" && LINK.test(value)) {
    element.setAttribute("href", value);
    element.target = "_blank";
    element.rel = "noopener";
  } else if (ATTRIBUTES.has(name)) {
    element.setAttribute(name, value);
  }
}

function styleSheets(nodes) {
  return nodes.flatMap((node) => {
    if (typeof node === "string") {
      return [];
    }
    const [tag, , children] = node;
    if (tag !== "style") {
      return styleSheets(children);
    }
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(children.join(""));
    return [sheet];
  });
}

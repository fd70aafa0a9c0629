"""What is asked of pages in a real browser."""

# Texts that do not stand out enough from what is behind them (WCAG 2.2, 1.4.3): ratio, element, how it begins.
CONTRAST = """
const channel = v => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
const background = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > .99) return colour.slice(0, 3);
  }
  return [255, 255, 255];
};
const worst = [];
const texts = 'p, li, td, th, h1, h2, h3, h4, a, figcaption, summary, dt, dd';
for (const element of document.querySelectorAll(texts)) {
  if (!element.innerText || !element.offsetParent) continue;
  const pair = [luminance(parse(getComputedStyle(element).color).slice(0, 3)), luminance(background(element))];
  const ratio = (Math.max(...pair) + .05) / (Math.min(...pair) + .05);
  if (ratio < 4.5) worst.push([ratio, element.tagName, element.innerText.slice(0, 40)]);
}
return worst
"""

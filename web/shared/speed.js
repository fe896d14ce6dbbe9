// The chart of speeds: a table whose rows have a bar for webtensor and one for TensorFlow.js.

const SIDES = { ours: "webtensor", theirs: "TensorFlow.js" };

/** Fills the table `#speed` from web/benchmarks.json, and says where and when it was measured. */
export function showSpeed({ conditions, rows }) {
  document.getElementById("speed-conditions").textContent = conditions;
  document.querySelector("#speed tbody").replaceChildren(...rows.map(speedRow));
}

/**
 * A row: what is measured, the milliseconds of both sides as bars, and theirs divided by ours; without
 * theirs, only ours. The longest bar stands for `longest_ms`, by default the longer time of the row.
 */
export function speedRow({ title, details, ours_ms, theirs_ms, ratio, longest_ms }) {
  const times = { ours: ours_ms, ...(theirs_ms === undefined ? {} : { theirs: theirs_ms }) };
  const longest = longest_ms ?? Math.max(...Object.values(times));
  const bars = Object.entries(times).map(([side, milliseconds]) => {
    const bar = make("span", `bar ${side}`, make("i"), `${format(milliseconds, 3)} ms `);
    bar.append(make("span", "muted", SIDES[side]));
    bar.style.setProperty("--share", milliseconds / longest);
    return bar;
  });
  const name = make("th", "", title, make("span", "muted details", details));
  name.scope = "row";
  return make("tr", "", name, make("td", "", ...bars), make("td", "ratio", ratio === undefined ? "" : format(ratio, 2, 2)));
}

const format = (number, maximumSignificantDigits, minimumSignificantDigits = 1) =>
  number.toLocaleString("en", { maximumSignificantDigits, minimumSignificantDigits });

function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

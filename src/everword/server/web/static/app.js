// Shows times in the viewer's zone, days as they are, and draws charts. Pages can be read without it.
"use strict";

const FORMATS = {
  minute: { dateStyle: "medium", timeStyle: "short" },
  day: { dateStyle: "medium" },
  date: { dateStyle: "medium", timeZone: "UTC" },
};

function showTimes(root) {
  for (const element of root.querySelectorAll("time[data-show]")) {
    const moment = new Date(element.dateTime);
    if (!Number.isNaN(moment.getTime())) {
      element.textContent = new Intl.DateTimeFormat(undefined, FORMATS[element.dataset.show]).format(moment);
      element.title = element.dateTime;
      delete element.dataset.show;
    }
  }
}

function colour(element, name) {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

function seriesOf(element, names) {
  const palette = ["--accent", "--retrieved", "--profile", "--summaries", "--topic", "--found", "--current", "--system"];
  return names.map((name, place) => {
    const stroke = colour(element, palette[place % palette.length]);
    return { label: name, stroke, width: 2, points: { show: false } };
  });
}

const DAY = 86400;
const HEIGHT = 220;

// Days as "18 Oct" in the viewer's words; between two days, the hour.
function axisLabels(zone) {
  const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: zone });
  const hour = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit", timeZone: zone });
  const month = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: zone });
  return (plot, moments, axis, space, step) =>
    moments.map((moment, place) => (step >= 25 * DAY ? month : step >= DAY || place === 0 ? day : hour).format(new Date(moment * 1000)));
}

function markNow(element, now) {
  return (plot) => {
    const place = plot.valToPos(now, "x", true);
    plot.ctx.save();
    plot.ctx.strokeStyle = colour(element, "--ink");
    plot.ctx.setLineDash([4, 4]);
    plot.ctx.strokeRect(place, plot.bbox.top, 0, plot.bbox.height);
    plot.ctx.restore();
  };
}

const dayOf = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

// What was dragged over on the chart of messages becomes the range of the page: whole bars.
function chooseRange(plot, chart) {
  if (plot.select.width < 4) {
    return;
  }
  const [first, last] = [plot.select.left, plot.select.left + plot.select.width].map((place) => plot.posToIdx(place));
  const link = new URL(chart.link, location.href);
  link.searchParams.set("from", dayOf(chart.times[first]));
  link.searchParams.set("to", dayOf(chart.times[last] + chart.step - DAY));
  location.assign(link);
}

function drawChart(element) {
  const chart = JSON.parse(element.dataset.chart);
  const axis = { stroke: colour(element, "--soft"), grid: { stroke: colour(element, "--line"), width: 1 }, ticks: { show: false } };
  const width = () => Math.max(element.clientWidth, 200);
  const series = seriesOf(element, chart.names);
  const options = {
    width: width(), height: HEIGHT, cursor: { y: false }, legend: { show: chart.names.length > 1, live: false },
    scales: { x: { time: true }, y: { range: (plot, least, most) => [0, (most || 1) * 1.1] } },
    axes: [
      { ...axis, size: 32, space: 60, values: axisLabels(chart.bars ? "UTC" : undefined) },
      { ...axis, size: (plot, values) => 16 + 8 * Math.max(...(values ?? ["0"]).map((value) => value.length)) },
    ],
    series: [{}, ...series],
  };
  let values = chart.values;
  if (chart.bars) {
    values = values.map((counts) => counts.map((count) => count || null));
    options.tzDate = (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC");
    const half = chart.step / 2;
    options.scales.x.range = (plot, least, most) => [least - half, most + half];
    options.axes[1].incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6];
    options.cursor.drag = { x: true, setScale: false };
    options.hooks = { setSelect: [(plot) => chooseRange(plot, chart)] };
    series.forEach((line) => Object.assign(line, { fill: line.stroke, paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.2 }) }));
  }
  if (chart.levels) {
    Object.assign(options.axes[1], { size: 64, splits: () => chart.levels.map(([least]) => least), values: () => chart.levels.map(([, word]) => word) });
  }
  if (chart.now) {
    options.hooks = { draw: [markNow(element, chart.now)] };
  }
  const plot = new uPlot(options, [chart.times, ...values], element);
  new ResizeObserver(() => plot.setSize({ width: width(), height: HEIGHT })).observe(element);
  delete element.dataset.chart;
}

function offerCopies(root) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    };
  }
}

// What a form may take long to do says so, and is not sent twice.
function sayBusy(root) {
  for (const form of root.querySelectorAll("form[data-busy]")) {
    form.onsubmit = () => {
      const button = form.querySelector("button:not([formaction])");
      button.textContent = form.dataset.busy;
      setTimeout(() => { button.disabled = true; });
    };
  }
}

function prepare(root) {
  showTimes(root);
  offerCopies(root);
  sayBusy(root);
  if (window.uPlot) {
    root.querySelectorAll("[data-chart]").forEach(drawChart);
  }
}

// A chat opens at its end, or at the turn that was asked for. Older messages are put above: what was in view stays there.
function showEndOfChat() {
  const chat = document.querySelector("ol[data-at]");
  const target = chat && (document.getElementById(chat.dataset.at) ?? chat.lastElementChild);
  if (target) {
    target.scrollIntoView({ block: chat.dataset.at ? "center" : "end" });
  }
}

let fromEnd = null;
document.addEventListener("DOMContentLoaded", () => {
  prepare(document);
  showEndOfChat();
  document.querySelectorAll(".talk").forEach((talk) => { talk.scrollTop = talk.scrollHeight; });
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const isOlder = event.detail.target.matches(".chat > .wait");
  fromEnd = isOlder ? document.documentElement.scrollHeight - window.scrollY : null;
});
document.addEventListener("htmx:afterSettle", () => {
  prepare(document);
  if (fromEnd !== null) {
    window.scrollTo({ top: document.documentElement.scrollHeight - fromEnd, behavior: "instant" });
    fromEnd = null;
  }
});
// Keys: "/" leads to the search, "g" and a letter to the page that has it in the menu, "x" ticks all facts shown.
let isGoing = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input:not([type=checkbox]), textarea, select")) {
    return;
  }
  const link = isGoing && /^[a-z]$/.test(event.key) && document.querySelector(`[data-go="${event.key}"]`);
  isGoing = event.key === "g";
  if (link) {
    link.click();
  } else if (event.key === "/") {
    const field = document.querySelector("main input[type=search][autofocus], #everything, main textarea");
    event.preventDefault();
    field?.focus();
  } else if (event.key === "x") {
    document.querySelectorAll("form.bulk input[type=checkbox]").forEach((box) => { box.checked = !box.checked; });
  }
});

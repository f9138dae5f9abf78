// Shows times in the viewer's zone, and draws charts. Pages can be read without it.
"use strict";

const FORMATS = {
  minute: { dateStyle: "medium", timeStyle: "short" },
  day: { dateStyle: "medium" },
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

function drawChart(element) {
  const chart = JSON.parse(element.dataset.chart);
  const axis = { stroke: colour(element, "--soft"), grid: { stroke: colour(element, "--line"), width: 1 }, ticks: { show: false } };
  const width = () => Math.max(element.clientWidth, 200);
  const scales = { x: { time: true, ...(chart.bars ? { range: (_, least, most) => [least - 43200, most + 43200] } : {}) }, y: { range: (_, least, most) => [0, (chart.bars ? Math.max(most, 1) : most || 1) * 1.1] } };
  const series = seriesOf(element, chart.names);
  if (chart.bars) {
    series.forEach((line) => Object.assign(line, { fill: line.stroke, paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.2 }) }));
  }
  const plot = new uPlot(
    {
      ...(chart.bars ? { tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
      width: width(), height: 220, scales, axes: [axis, { ...axis, size: 55 }],
      series: [{}, ...series], legend: { show: chart.names.length > 1, live: false },
      cursor: { y: false },
    },
    [chart.times, ...chart.values],
    element,
  );
  new ResizeObserver(() => plot.setSize({ width: width(), height: 220 })).observe(element);
  delete element.dataset.chart;
}

function prepare(root) {
  showTimes(root);
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
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  showEndOfChat();
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
document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "/" && !(target instanceof HTMLElement && target.matches("input, textarea, select"))) {
    const field = document.querySelector("main input[type=search], main textarea");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});

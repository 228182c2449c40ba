// A chart over time by uPlot, in the colours of the page. The table beside it says the same.
import { html, uPlot, useEffect, useLayoutEffect, useRef } from '../base/html.js'
import { scheme } from '../base/scheme.js'
import { lang } from '../base/words.js'

// The value of a colour variable as canvas understands it, in the scheme of the page.
function colour(name) {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}
export const SERIES = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6']

// days: [ms], series: [{name, values}], stacked as bars. format: of a value.
export function Bars({ days, series, format, formatDay, label, height = 220 }) {
  const box = useRef(null)
  scheme.value
  useLayoutEffect(() => {
    const sums = days.map(() => 0)
    const stacked = series.map(one => one.values.map((value, i) => (sums[i] += value)))
    const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui' }
    const bars = uPlot.paths.bars({ size: [0.62, 34], radius: 0.12 })
    const chart = new uPlot({
      width: Math.max(260, box.current.clientWidth), height, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: [-0.7, days.length - 0.3] }, y: { range: (u, min, max) => [0, max > 0 ? max * 1.08 : 1] } },
      axes: [{ ...axis, grid: { show: false }, space: 64, values: (u, at) => at.map(i => (Number.isInteger(i) && days[i] !== undefined ? formatDay(days[i]) : '')) },
        { ...axis, size: 64, values: (u, at) => at.map(format) }],
      series: [{}, ...stacked.map((_, i) => ({ fill: colour(SERIES[(stacked.length - 1 - i) % SERIES.length]), width: 0, paths: bars, points: { show: false } }))],
    }, [days.map((_, i) => i), ...[...stacked].reverse()], box.current)
    const watch = new ResizeObserver(() => box.current && chart.setSize({ width: Math.max(260, box.current.clientWidth), height }))
    watch.observe(box.current)
    return () => {
      watch.disconnect()
      chart.destroy()
    }
  }, [days, series, scheme.value, lang.value])
  return html`<div class="chart"><div ref=${box} role="img" aria-label=${label}></div>
    <ul class="legend">${series.map((one, i) => html`<li key=${one.name}><span class=${'swatch s' + (i % SERIES.length + 1)}></span>${one.name || '–'}</li>`)}</ul></div>`
}

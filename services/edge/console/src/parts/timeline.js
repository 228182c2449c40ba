// A run as bars over time: who worked when, and who waited for whom. Times in which nothing worked are drawn short.
import { html, useMemo, useState } from '../base/html.js'
import { t } from '../base/words.js'
import { count, duration, instant } from '../base/format.js'
import { Tabs } from './basics.js'
import { VirtualList } from './virtual.js'

const ROW = 30, IDLE_SHARE = 0.06, IDLE_DRAWN = 0.03

// A map from time to 0..1 that shortens idle times.
export function timeScale(spans, now) {
  const ends = spans.map(span => [span.start, span.end || now]).sort((a, b) => a[0] - b[0])
  if (!ends.length) return { place: () => 0, idle: [] }
  const busy = []
  for (const [from, to] of ends) {
    const top = busy.at(-1)
    if (top && from <= top[1]) top[1] = Math.max(top[1], to)
    else busy.push([from, to])
  }
  const total = Math.max(1, busy.at(-1)[1] - busy[0][0])
  const pieces = [], idle = []
  busy.forEach(([from, to], i) => {
    if (i) {
      const gap = from - busy[i - 1][1]
      const short = gap / total > IDLE_SHARE
      pieces.push([busy[i - 1][1], from, short ? IDLE_DRAWN * total : gap])
      if (short) idle.push([busy[i - 1][1], from])
    }
    pieces.push([from, to, to - from])
  })
  const drawn = Math.max(1, pieces.reduce((sum, piece) => sum + piece[2], 0))
  const place = ms => {
    let sum = 0
    for (const [from, to, length] of pieces) {
      if (ms <= to) return (sum + (to > from ? Math.max(0, ms - from) / (to - from) : 0) * length) / drawn
      sum += length
    }
    return 1
  }
  return { place, idle }
}

export function Timeline({ model, chosen, onChoose, now }) {
  model.version.value
  const [filter, setFilter] = useState('all')
  const spans = model.spans
  const list = useMemo(() => {
    if (filter === 'failed') return spans.filter(span => ['failed', 'retried', 'lost'].includes(span.state))
    if (filter === 'running') return spans.filter(span => span.state === 'running')
    if (filter === 'slow') return [...spans].sort((a, b) => ((b.end || now) - b.start) - ((a.end || now) - a.start)).slice(0, 200)
    if (filter === 'waits') {
      const last = spans.filter(span => !span.path).reduce((late, span) => (!late || (span.end || now) >= (late.end || now) ? span : late), null)
      return last ? model.waits(last) : []
    }
    if (filter === 'chosen') return spans.filter(span => (span.path.replace(/\[\d+\]/g, '') ? span.path.replace(/\[\d+\]/g, '') + '/' : '') + span.node === chosen)
    return spans
  }, [filter, spans.length, model.version.value, chosen])
  const scale = useMemo(() => timeScale(spans.length > 3000 ? spans.filter((_, i) => i % Math.ceil(spans.length / 3000) === 0) : spans, now), [spans.length, model.version.value, now])
  const [picked, setPicked] = useState(null)
  const waited = picked ? model.before(picked) : null, inner = picked ? model.within(picked) : null
  const chain = useMemo(() => new Set(picked ? model.waits(picked) : []), [picked, model.version.value])
  const nameOf = span => (span.path ? span.path + '/' : '') + span.node
  const failures = spans.filter(span => ['failed', 'retried', 'lost'].includes(span.state)).length
  const row = span => {
    const from = scale.place(span.start), to = scale.place(span.end || now)
    return html`<button type="button" class=${`span ${span.state}${picked === span ? ' picked' : chain.has(span) ? ' waited' : ''}`} onClick=${() => {
      setPicked(span)
      onChoose?.((span.path ? span.path.replace(/\[\d+\]/g, '') + '/' : '') + span.node)
    }}>
      <span class="span-name" title=${span.path + '/' + span.node}>${span.path && html`<span class="faint span-path">${span.path}/</span>`}<span class="span-node">${span.node}</span>${span.attempt > 1 ? html` <span class="faint">${t('attempt', { n: span.attempt })}</span>` : ''}</span>
      <span class="span-track"><span class="span-bar" style=${{ insetInlineStart: from * 100 + '%', width: `max(3px, ${(to - from) * 100}%)` }}></span></span>
      <span class="span-time">${duration((span.end || now) - span.start)}</span></button>`
  }
  return html`<div class="timeline">
    <${Tabs} label=${t('filter')} value=${filter} onChange=${setFilter} tabs=${[{ id: 'all', label: t('spans.all') }, { id: 'failed', label: t('spans.failed'), count: failures },
      { id: 'running', label: t('spans.running') }, { id: 'slow', label: t('spans.slow') }, { id: 'waits', label: t('spans.waits') }, ...(chosen ? [{ id: 'chosen', label: t('spans.chosen') }] : [])]} />
    ${scale.idle.length > 0 && html`<p class="faint">${t('timeline.idle', { n: scale.idle.length, time: duration(scale.idle.reduce((sum, [a, b]) => sum + b - a, 0)) })}</p>`}
    ${list.length ? html`<${VirtualList} items=${list} height=${ROW} max=${480} row=${row} keyOf=${span => span.id} label=${t('timeline')} />` : html`<p class="faint">${t('spans.none')}</p>`}
    ${picked && html`<div class="span-detail" dir="auto"><strong>${picked.path ? picked.path + '/' : ''}${picked.node}</strong>
      <span>${t('span.when', { from: instant(picked.start), time: duration((picked.end || now) - picked.start) })}</span>
      ${picked.outcome && html`<span>${t('span.outcome')} <code>${picked.outcome}</code></span>`}
      ${waited && html`<span>${t('span.waited', { node: nameOf(waited), time: duration(waited.end - waited.start) })}</span>`}
      ${inner && html`<span>${t('span.within', { node: nameOf(inner), time: duration(inner.end - inner.start) })}</span>`}
      ${picked.usage && Number(picked.usage.modelCalls) > 0 && html`<span>${t('span.tokens', { in: count(picked.usage.inputTokens), out: count(picked.usage.outputTokens) })}</span>`}
      ${picked.text && html`<p class="error">${picked.text}</p>`}</div>`}
  </div>`
}

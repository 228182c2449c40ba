// Models and cost: usage over time by client or model, the routes with their deployments and circuit breakers.
import { get } from '../base/api.js'
import { serverNow } from '../base/clock.js'
import { compact, cost, count, day } from '../base/format.js'
import { html, useEffect, useMemo } from '../base/html.js'
import { route, setFields } from '../base/router.js'
import { lang, t, word } from '../base/words.js'
import { Card, Empty, ErrorNote, Loading, Note, Page, Tabs, useLoad } from '../parts/basics.js'
import { Bars } from '../parts/chart.js'

const DAY = 86400e3
const GROUPS = { model: 'USAGE_GROUP_MODEL', client: 'USAGE_GROUP_CLIENT', deployment: 'USAGE_GROUP_DEPLOYMENT' }
const MEASURES = {
  tokens: usage => Number(usage?.inputTokens ?? 0) + Number(usage?.outputTokens ?? 0),
  cost: usage => Number(usage?.costMicros ?? 0) / 1e6,
  calls: (usage, row) => Number(row.calls ?? 0),
}

async function allRows(fields) {
  const rows = []
  let token = '', first = null
  do {
    const page = await get('/v1/usage', { ...fields, pageSize: 1000, pageToken: token })
    first ??= page
    rows.push(...page.rows)
    token = page.nextPageToken
  } while (token && rows.length < 20000)
  return { ...first, rows }
}

function Usage({ by, measure, days }) {
  const offset = Math.round(-new Date().getTimezoneOffset() / 15) * 15
  const from = Math.floor((serverNow() + offset * 60000) / DAY) * DAY - offset * 60000 - (days - 1) * DAY
  const { value, error, again } = useLoad(() => allRows({ fromMs: from, groupBy: ['USAGE_GROUP_DAY', GROUPS[by]], utcOffsetMinutes: offset }), [by, days])
  const chart = useMemo(() => {
    if (!value) return null
    const all = Array.from({ length: days }, (_, i) => from + i * DAY)
    const sums = new Map()
    for (const row of value.rows) {
      const name = row[by] ?? ''
      if (!sums.has(name)) sums.set(name, { name, total: 0, values: all.map(() => 0), usage: { inputTokens: 0, outputTokens: 0, costMicros: 0, unpricedCalls: 0 }, calls: 0, failed: 0 })
      const sum = sums.get(name), amount = MEASURES[measure](row.usage, row)
      const at = Math.round((Number(row.startMs) - from) / DAY)
      if (at >= 0 && at < days) sum.values[at] += amount
      sum.total += amount
      for (const field of Object.keys(sum.usage)) sum.usage[field] += Number(row.usage?.[field] ?? 0)
      sum.calls += Number(row.calls)
      sum.failed += Number(row.failedCalls)
    }
    const sorted = [...sums.values()].sort((a, b) => b.total - a.total)
    const shown = sorted.slice(0, 5)
    if (sorted.length > 5) {
      const rest = sorted.slice(5)
      shown.push({ name: t('usage.others', { n: rest.length }), values: all.map((_, i) => rest.reduce((sum, one) => sum + one.values[i], 0)) })
    }
    return { all, series: shown, sorted }
  }, [value, measure, lang.value])
  const format = { tokens: compact, cost: amount => cost(amount * 1e6), calls: compact }[measure]
  if (error) return html`<${ErrorNote} error=${error} onAgain=${again} />`
  if (!chart) return html`<${Loading} />`
  if (!chart.sorted.length) return html`<${Empty} icon="models">${t('usage.none')}<//>`
  const total = value.totals?.usage
  return html`<div class="figures"><div><span class="figure">${compact(MEASURES.tokens(total))}</span><span class="faint">${t('tokens')}</span></div>
      <div><span class="figure">${cost(total?.costMicros)}</span><span class="faint">${t('cost')}</span></div><div><span class="figure">${compact(value.totals?.calls)}</span><span class="faint">${t('calls')}</span></div>
      <div><span class="figure">${compact(value.totals?.failedCalls)}</span><span class="faint">${t('usage.failed')}</span></div></div>
    ${Number(total?.unpricedCalls) > 0 && html`<p class="faint">${t('usage.unpriced', { n: Number(total.unpricedCalls), count: count(total.unpricedCalls) })}</p>`}
    ${Number(value.damagedRows) > 0 && html`<${Note} kind="bad" icon="warn">${t('usage.damaged', { n: Number(value.damagedRows) })}<//>`}
    <${Bars} days=${chart.all} series=${chart.series} format=${format} formatDay=${day} label=${t('usage.chart')} />
    <div class="scroll" tabindex="0" role="region" aria-label=${t('usage.table')}><table><thead><tr><th scope="col">${t('usage.' + by)}</th><th scope="col" class="number">${t('usage.in')}</th><th scope="col" class="number">${t('usage.out')}</th><th scope="col" class="number">${t('calls')}</th><th scope="col" class="number">${t('usage.failed')}</th><th scope="col" class="number">${t('cost')}</th></tr></thead>
      <tbody>${chart.sorted.slice(0, 100).map(one => html`<tr key=${one.name}><td dir="auto">${one.name || '–'}</td><td class="number">${count(one.usage.inputTokens)}</td><td class="number">${count(one.usage.outputTokens)}</td><td class="number">${count(one.calls)}</td><td class="number">${count(one.failed)}</td><td class="number">${one.usage.unpricedCalls && !one.usage.costMicros ? '–' : cost(one.usage.costMicros)}</td></tr>`)}</tbody></table></div>`
}

const circuitLook = { CIRCUIT_STATE_CLOSED: 'good', CIRCUIT_STATE_OPEN: 'bad', CIRCUIT_STATE_HALF_OPEN: 'wait' }
function Deployments() {
  const { value, error, again } = useLoad(() => get('/v1/models'), [])
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), 5000)
    return () => clearInterval(timer)
  }, [])
  if (error && !value) return html`<${ErrorNote} error=${error} onAgain=${again} />`
  if (!value) return html`<${Loading} />`
  return html`<ul class="models">${value.models.map(model => html`<li key=${model.name}><h3>${model.name}</h3><p class="faint" dir="auto">${[model.description, ...['chat', 'embeddings', 'streaming', 'tools', 'structuredOutput', 'reasoning'].filter(one => model[one]).map(one => t('can.' + one)),
      model.contextTokens && t('models.context', { count: compact(model.contextTokens) }), model.price && t('models.price', { in: cost(model.price.inputMicros), out: cost(model.price.outputMicros) })].filter(Boolean).join(' · ')}</p>
    <div class="scroll" tabindex="0" role="region" aria-label=${t('models.of', { name: model.name })}><table><thead><tr><th scope="col">${t('models.deployment')}</th><th scope="col">${t('models.provider')}</th><th scope="col">${t('models.model')}</th><th scope="col" class="number">${t('models.rank')}</th><th scope="col">${t('models.breaker')}</th></tr></thead>
      <tbody>${model.deployments.map(one => html`<tr key=${one.target.deployment}><td>${one.target.deployment}</td><td class="faint">${one.target.provider}</td><td class="faint">${one.target.model}</td><td class="number">${one.rank ? t('models.fallback', { n: one.rank }) : t('models.share', { n: one.weight })}</td>
        <td><span class=${'tag ' + (circuitLook[one.circuit] ?? 'quiet')}>${word('circuit_state', one.circuit)}</span></td></tr>`)}</tbody></table></div></li>`)}</ul>`
}

export function Models() {
  const { fields } = route.value
  const by = fields.get('by') in GROUPS ? fields.get('by') : 'model', measure = fields.get('measure') in MEASURES ? fields.get('measure') : 'tokens', days = [7, 30, 90].includes(Number(fields.get('days'))) ? Number(fields.get('days')) : 14
  return html`<${Page} title=${t('models.title')} lead=${t('models.lead')}>
    <${Card} title=${t('usage.title')} actions=${html`<select aria-label=${t('usage.by')} onChange=${event => setFields({ by: event.currentTarget.value })}>${Object.keys(GROUPS).map(one => html`<option value=${one} selected=${by === one}>${t('usage.' + one)}</option>`)}</select>
        <select aria-label=${t('usage.measure')} onChange=${event => setFields({ measure: event.currentTarget.value })}>${Object.keys(MEASURES).map(one => html`<option value=${one} selected=${measure === one}>${t(one)}</option>`)}</select>
        <select aria-label=${t('usage.range')} onChange=${event => setFields({ days: event.currentTarget.value })}>${[7, 14, 30, 90].map(one => html`<option value=${one} selected=${days === one}>${t('usage.days', { n: one })}</option>`)}</select>`}>
      <${Usage} by=${by} measure=${measure} days=${days} /><//>
    <${Card} title=${t('models.deployments')}><${Deployments} /><//>
  <//>`
}

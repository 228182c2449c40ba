// Runs: a list with filters that stands in the address, pages as one scrolls, and actions on all runs of the filter.
import { get, newId, post, query, remove, seg } from '../base/api.js'
import { serverNow } from '../base/clock.js'
import { compact, cost, count, duration, sorted } from '../base/format.js'
import { html, useEffect, useMemo, useRef, useState } from '../base/html.js'
import { route, setFields } from '../base/router.js'
import { rowOf, withTop } from '../base/run_list.js'
import { onTouched, touch } from '../base/shared_stream.js'
import { t, word } from '../base/words.js'
import { bare, Button, Card, Dialog, Empty, ErrorNote, Loading, Note, Page, StateTag, Time, useLoad, workedUntil } from '../parts/basics.js'
import { VirtualList } from '../parts/virtual.js'

const STATES = ['RUNNING', 'QUEUED', 'WAITING', 'SUCCEEDED', 'FAILED', 'CANCELLED']
const SPANS = { hour: 3600e3, day: 86400e3, week: 7 * 86400e3 }
const PAGE = 200, REFRESH_MS = 4000, ROW = 58
const REST = 10 // times as long as the last refresh took, until the next: a rare filter reads every run of the store

const listed = fields => (fields.get('state') ?? '').split(',').filter(Boolean)

// The filter of the address, or null if a part of it is not understood: to leave that part out would give more runs than
// the user means, and actions take all of them.
function filterOf(fields) {
  const states = listed(fields), since = fields.get('since') ?? '', text = fields.get('label') ?? ''
  const label = text.match(/^([^=]+)=(.*)$/)
  if (states.some(one => !STATES.includes(one)) || (since && !SPANS[since]) || (text && !label)) return null
  return {
    agent: fields.get('agent') ?? '', threadId: fields.get('thread') ?? '', states: states.map(one => 'RUN_STATE_' + one),
    ...(label ? { labels: { [label[1]]: label[2] } } : {}),
    ...(since ? { createdFromMs: Math.floor((serverNow() - SPANS[since]) / 60000) * 60000 } : {}),
  }
}

// The filter in words, for the question before an action.
const filterText = fields => [listed(fields).map(one => word('run_state', one)).join(', '), fields.get('agent'), fields.get('thread'), fields.get('label'),
  fields.get('since') && t('runs.since_' + fields.get('since'))].filter(Boolean).join(' · ')

// Pages of runs. New runs come on top and known ones are renewed while the page is in sight.
function useRuns(filter) {
  const key = filter ? query(filter) : '\0'
  const [held, setHeld] = useState({ runs: [], busy: true, error: null, damaged: [] })
  const box = useRef(null)
  const back = route.value.back && left?.key === key // from a run to the list that it was chosen from
  const load = async token => {
    const own = box.current, begun = performance.now()
    own.loading = true
    try {
      const page = await get('/v1/runs', { ...filter, pageSize: PAGE, pageToken: token })
      if (box.current !== own) return
      const rows = page.runs.map(rowOf)
      const top = token ? null : withTop(own.runs, rows, page.nextPageToken)
      if (top) own.runs = top.runs
      else own.runs.push(...rows)
      if (token || top.anew) own.next = page.nextPageToken
      own.damaged = [...new Set([...own.damaged, ...page.damagedRunIds ?? []])]
      setHeld({ runs: own.runs, busy: false, error: null, damaged: own.damaged })
    } catch (error) {
      if (box.current === own) setHeld(before => ({ ...before, busy: false, error }))
    } finally {
      own.loading = false
      if (!token) own.refreshAfter = performance.now() + REST * (performance.now() - begun)
      if (own.wanted && box.current === own) { // the end was reached during this load
        own.wanted = false
        more()
      }
    }
  }
  const more = () => {
    const own = box.current
    if (own.loading) own.wanted = true
    else if (own.next) load(own.next)
  }
  useEffect(() => {
    if (!filter) {
      setHeld({ runs: [], busy: false, error: null, damaged: [] })
      return undefined
    }
    if (!back) left = null
    box.current = left?.box ?? { runs: [], next: '', damaged: [], refreshAfter: 0 }
    left = { key, box: box.current, top: left?.top ?? 0 }
    setHeld({ runs: box.current.runs, busy: true, error: null, damaged: box.current.damaged })
    load('')
    const refresh = () => document.visibilityState === 'visible' && !box.current.loading && load('')
    const timer = setInterval(() => performance.now() > box.current.refreshAfter && refresh(), REFRESH_MS)
    const stop = onTouched(refresh)
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [key])
  return { ...held, more, again: () => load(''), top: back ? left.top : 0, onTop: top => left?.key === key && (left.top = top) }
}
let left = null // {key, box, top}: the list that was seen last, and how far it was scrolled

function RunRow({ run }) {
  return html`<a class="run-row" href=${'/runs/' + seg(run.runId)}>
    <${StateTag} state=${run.state} />
    <span class="run-what"><span class="run-title" dir="auto">${run.title || run.runId}</span><span class="faint run-sub"><span class="narrow"><${Time} ms=${run.createdMs} /> · </span>${run.agent}${bare(run.state) === 'FAILED' && run.reason ? ' · ' + run.reason : ''}</span></span>
    <span class="run-when"><${Time} ms=${run.createdMs} /><span class="faint">${Number(run.startedMs) ? duration(workedUntil(run) - Number(run.startedMs)) : '–'}</span></span>
    <span class="run-figures"><span>${run.costMicros ? cost(run.costMicros) : t('runs.tokens', { count: compact(run.tokens) })}</span>
      <span class="faint">${bare(run.state) === 'RUNNING' ? '' : t('runs.steps', { n: Number(run.step), count: count(run.step) })}</span></span></a>`
}

const ACTIONS = {
  cancel: { states: ['QUEUED', 'RUNNING', 'WAITING'], kind: 'danger', done: run => post(`/v1/runs/${seg(run.runId)}:cancel`, { reason: t('cancel.by_person') }) },
  resume: { states: ['FAILED', 'CANCELLED'], kind: 'primary', done: run => post(`/v1/runs/${seg(run.runId)}:resume`, { requestId: newId() }) },
  delete: { states: STATES, kind: 'danger', done: run => remove('/v1/threads/' + seg(run.threadId), { cancelRuns: true }) },
}

function ManyDialog({ action, filter, words, onClose }) {
  const [found, setFound] = useState(null), [counted, setCounted] = useState(0), [done, setDone] = useState(0)
  const [failed, setFailed] = useState([]), [phase, setPhase] = useState('counting'), [error, setError] = useState(null)
  const stop = useRef(false)
  useEffect(() => {
    const states = filter.states.length ? filter.states.filter(one => ACTIONS[action].states.includes(bare(one))) : ACTIONS[action].states.map(one => 'RUN_STATE_' + one)
    const collect = async () => {
      const all = new Map()
      let token = ''
      if (states.length) do {
        const page = await get('/v1/runs', { ...filter, states, pageSize: 500, pageToken: token })
        for (const run of page.runs) {
          const key = action === 'delete' ? run.threadId : run.runId
          if (!all.has(key)) all.set(key, { runId: run.runId, threadId: run.threadId, title: run.labels?.title })
        }
        token = page.nextPageToken
        setCounted(all.size)
      } while (token && !stop.current)
      setFound([...all.values()])
      setPhase('ask')
    }
    collect().catch(setError)
    return () => { stop.current = true }
  }, [])
  const act = async () => {
    setPhase('acting')
    const queue = [...found]
    const worker = async () => {
      for (let run; !stop.current && (run = queue.shift());) {
        try {
          await ACTIONS[action].done(run)
        } catch (why) {
          setFailed(before => [...before, { ...run, why: why.message }])
        }
        setDone(before => before + 1)
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    setPhase('done')
    touch('')
  }
  return html`<${Dialog} title=${t('many.' + action)} onClose=${() => { stop.current = true; onClose() }}>
    <${ErrorNote} error=${error} />
    ${phase === 'counting' && !error && html`<p role="status">${t('many.counting', { count: count(counted) })}</p>`}
    ${phase === 'ask' && html`<p class="faint" dir="auto">${words ? t('many.filter', { words }) : t('many.no_filter')}</p>
      <p>${t('many.ask_' + action, { n: found.length, count: count(found.length) })}</p>
      <div class="actions end"><${Button} kind=${ACTIONS[action].kind} disabled=${!found.length} onClick=${act}>${t('many.do_' + action, { n: found.length, count: count(found.length) })}<//></div>`}
    ${(phase === 'acting' || phase === 'done') && html`<p role="status">${t(phase === 'done' ? 'many.done' : 'many.acting', { done: count(done - failed.length), count: count(found.length) })}</p>
      <progress max=${found.length} value=${done} aria-label=${t('many.' + action)}></progress>
      ${phase === 'acting' && html`<div class="actions end"><${Button} icon="stop" onClick=${() => { stop.current = true }}>${t('many.stop')}<//></div>`}
      ${failed.length > 0 && html`<${Note} kind="bad" icon="warn"><strong>${t('many.failed', { n: failed.length })}</strong><ul>${failed.slice(0, 50).map(one => html`<li><a href=${'/runs/' + seg(one.runId)}>${one.title || one.runId}</a>: ${one.why}</li>`)}</ul><//>`}`}
  <//>`
}

function Menu({ onChoose }) {
  const box = useRef(null)
  useEffect(() => {
    const close = event => { if (box.current && !box.current.contains(event.target)) box.current.open = false }
    document.addEventListener('pointerdown', close)
    return () => document.removeEventListener('pointerdown', close)
  }, [])
  const leave = event => {
    if (event.key !== 'Escape' || !box.current.open) return
    box.current.open = false
    box.current.querySelector('summary').focus()
  }
  return html`<details class="menu" ref=${box} onKeyDown=${leave}><summary class="button">${t('many.all')}</summary><div class="menu-box">${Object.keys(ACTIONS).map(action => html`
      <button type="button" key=${action} onClick=${() => { box.current.open = false; onChoose(action) }}>${t('many.' + action)}</button>`)}</div></details>`
}

export function Runs() {
  const { fields } = route.value
  const filter = useMemo(() => filterOf(fields), [fields.toString()])
  const { runs, busy, error, damaged, more, again, top, onTop } = useRuns(filter)
  const { value: agents } = useLoad(() => get('/v1/agents'), [])
  const [many, setMany] = useState(null)
  const states = listed(fields)
  const toggle = state => setFields({ state: (states.includes(state) ? states.filter(one => one !== state) : [...states, state]).join(',') })
  return html`<${Page} wide title=${t('runs.title')} actions=${filter && html`<${Menu} onChoose=${setMany} />`}>
    <div class="filters" role="search" aria-label=${t('filter')}>
      <div class="chips" role="group" aria-label=${t('state')}>${STATES.map(state => html`<button type="button" key=${state} class=${'chip' + (states.includes(state) ? ' on' : '')} aria-pressed=${states.includes(state) ? 'true' : 'false'} onClick=${() => toggle(state)}>${word('run_state', state)}</button>`)}</div>
      <select aria-label=${t('agent')} onChange=${event => setFields({ agent: event.currentTarget.value })}><option value="" selected=${!fields.get('agent')}>${t('runs.any_agent')}</option>
        ${sorted(agents?.agents ?? [], one => one.name).map(one => html`<option value=${one.name} selected=${fields.get('agent') === one.name}>${one.name}</option>`)}</select>
      <select aria-label=${t('runs.since')} onChange=${event => setFields({ since: event.currentTarget.value })}>${['', 'hour', 'day', 'week'].map(one => html`<option value=${one} selected=${(fields.get('since') ?? '') === one}>${t('runs.since_' + (one || 'ever'))}</option>`)}</select>
      <input type="search" aria-label=${t('thread')} placeholder=${t('thread')} value=${fields.get('thread') ?? ''} onChange=${event => setFields({ thread: event.currentTarget.value.trim() })} />
      <input type="search" aria-label=${t('runs.label')} placeholder=${t('runs.label')} value=${fields.get('label') ?? ''} onChange=${event => setFields({ label: event.currentTarget.value.trim() })} />
    </div>
    ${!filter && html`<${Note} kind="bad" icon="warn"><p>${t('runs.bad_filter')}</p><p><a href="/runs">${t('runs.all')}</a></p><//>`}
    <${ErrorNote} error=${error} onAgain=${again} />
    ${damaged.length > 0 && html`<${Note} kind="bad" icon="warn">${t('runs.damaged', { n: damaged.length })} <code>${damaged.slice(0, 5).join(', ')}</code><//>`}
    ${busy && !runs.length ? html`<${Loading} />` : runs.length ? html`<${Card} kind="flush"><${VirtualList} items=${runs} height=${ROW} max=${Math.max(360, innerHeight - 260)} keyOf=${run => run.runId} label=${t('runs.title')} onEnd=${more} startTop=${top} onTop=${onTop}
      row=${run => html`<${RunRow} run=${run} />`} /><//>` : !error && filter && html`<${Empty} icon="runs">${t('runs.none')}<//>`}
    ${many && html`<${ManyDialog} action=${many} filter=${filter} words=${filterText(fields)} onClose=${() => setMany(null)} />`}
  <//>`
}

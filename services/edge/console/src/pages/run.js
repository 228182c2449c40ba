// One run: how it stands, what it waits for, its graph and time line as they happen, its states and its events.
import { get, newId, parseJson, post, remove, seg } from '../base/api.js'
import { serverNow } from '../base/clock.js'
import { cost, count, duration, time } from '../base/format.js'
import { html, useEffect, useMemo, useRef, useState } from '../base/html.js'
import { navigate, route, setFields } from '../base/router.js'
import { RunModel } from '../base/run_model.js'
import { link, onTouched, touch, watchRun } from '../base/shared_stream.js'
import { t, word } from '../base/words.js'
import { bare, Button, Card, Degradations, Dialog, ErrorNote, Facts, Loading, Note, Page, StateTag, StatusLine, Tabs, Time, useLoad, workedUntil } from '../parts/basics.js'
import { countsText, Graph, GraphTable } from '../parts/graph.js'
import { Icon } from '../parts/icons.js'
import { JsonView } from '../parts/json_view.js'
import { documentsOf } from '../parts/scene.js'
import { Timeline } from '../parts/timeline.js'
import { Interrupts } from './run_interrupts.js'
import { ResumeNote } from './run_resume.js'
import { RunLog } from './run_log.js'
import { States } from './run_states.js'

const ENDED = ['SUCCEEDED', 'FAILED', 'CANCELLED']
const resumable = run => ['FAILED', 'CANCELLED'].includes(bare(run.state)) || (bare(run.state) === 'SUCCEEDED' && String(run.stopReason).includes('BUDGET'))

// The run and the model of its events. Both come from the same events, so that head, graph and list agree.
function useRun(runId) {
  const [held, setHeld] = useState({ run: null, error: null })
  const model = useRef(null)
  const [, draw] = useState(0)
  if (model.current?.runId !== runId) model.current = Object.assign(new RunModel(), { runId })
  useEffect(() => {
    let stopWatch = null, gone = false, again = null, lastEvent = 0
    const load = async () => {
      try {
        const { run } = await get('/v1/runs/' + seg(runId))
        if (gone) return
        setHeld({ run, error: null })
        lastEvent = Number(run.lastEventId)
        if (!ENDED.includes(bare(run.state)) || model.current.last < lastEvent) watch()
      } catch (error) {
        if (gone) return
        const deleted = error.status === 'NOT_FOUND' // also by another tab or client: nothing can be done with it any more
        setHeld(before => ({ run: deleted ? null : before.run, error, deleted: deleted && !!before.run }))
        if (deleted) leave()
        else if (error.status === 'UNAVAILABLE') again = setTimeout(load, 2000)
      }
    }
    const watch = () => {
      if (stopWatch) return
      stopWatch = watchRun(runId, model.current.last, ({ event, data }) => {
        if (event === 'error' && data.error?.status === 'OUT_OF_RANGE') { // events are no longer kept: begin with those to come
          model.current = Object.assign(new RunModel(), { runId, last: lastEvent, gap: true })
          draw(n => n + 1)
          clearTimeout(again)
          again = setTimeout(load, 1000)
        }
        if (event === 'end' || event === 'error') {
          stopWatch?.()
          stopWatch = null
        }
        if (event !== 'message') return
        model.current.apply(data)
        if (data.stopped || data.stateChanged || data.interrupted) {
          clearTimeout(again)
          again = setTimeout(load, 60)
        }
        if (data.stopped && bare(data.stopped.state) !== 'WAITING') {
          stopWatch?.()
          stopWatch = null
        }
      })
    }
    load()
    const stopTouch = onTouched(id => (!id || id === runId) && load())
    const look = () => document.visibilityState === 'visible' && load()
    document.addEventListener('visibilitychange', look)
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), 15000)
    const leave = () => {
      gone = true
      clearTimeout(again)
      clearInterval(timer)
      stopTouch()
      stopWatch?.()
      document.removeEventListener('visibilitychange', look)
    }
    return leave
  }, [runId])
  return { ...held, model: model.current }
}

function NodeDetail({ model, documents, nodeKey, onClose, onFork }) {
  model.version.value
  const outer = nodeKey.split('/')[0] // a checkpoint that can be forked is one of the whole run
  const stat = model.stats.get(nodeKey)
  const [name, path] = [nodeKey.split('/').at(-1), nodeKey.split('/').slice(0, -1).join('/')]
  const generic = text => text.replace(/\[\d+\]/g, '')
  const spans = model.spans.filter(span => span.node === name && generic(span.path) === path)
  const texts = [...model.texts].filter(([key]) => { const [at, node] = key.split('|'); return node === name && generic(at) === path }).slice(-3)
  let place = documents.root, definition = null
  for (const part of nodeKey.split('/')) {
    definition = documents.all.get(place)?.nodes?.[part]
    place = definition?.graph
  }
  const failed = spans.filter(span => span.text).slice(-3)
  return html`<${Card} title=${name} level=${3} actions=${html`<button type="button" class="button ghost square" aria-label=${t('close')} onClick=${onClose}><${Icon} name="cross" /></button>`} kind="node-detail">
    <${Facts} rows=${[[t('kind'), definition?.kind], [t('state'), countsText(stat)], [t('duration'), stat?.done ? duration(stat.ms / stat.done) : ''],
      [t('outcomes'), [...(stat?.outcomes ?? [])].map(([outcome, n]) => `${outcome} × ${count(n)}`).join(', ')], [t('node.inputs'), definition?.inputs?.join(', ')],
      [t('node.prompts'), [definition?.system, definition?.prompt, definition?.retry_prompt].filter(Boolean).join(', ')]]} />
    ${failed.map(span => html`<p class="error" key=${span.id} dir="auto">${span.path ? span.path + ': ' : ''}${span.text}</p>`)}
    ${texts.map(([key, text]) => html`<p key=${key} class="token-text" dir="auto">${text.slice(-1200)}</p>`)}
    ${model.stats.get(outer)?.started > 0 && html`<${Button} kind="small" icon="fork" onClick=${() => onFork(outer)}>${path ? t('node.again_from', { name: outer }) : t('node.again')}<//>`}
    ${definition && html`<details><summary>${t('node.document')}</summary><${JsonView} value=${definition} name=${name} /></details>`}<//>`
}

const VIEWS = ['graph', 'timeline', 'state', 'events', 'output']
const labelOf = view => t(['graph', 'timeline'].includes(view) ? view : view === 'state' ? 'run.states' : 'run.' + view)

// The page of the typed service that the run belongs to.
const ownPage = run => ({ helpdesk: '/ask/' + seg(run.runId), deep_research: '/research/deep/' + seg(run.runId), autonomous_research: '/research/autonomous/' + seg(run.runId), form_interview: '/interview/' + seg(run.threadId) })[run.agent]

export function Run({ runId }) {
  const { run, error, deleted, model } = useRun(runId)
  const { fields } = route.value
  const tab = VIEWS.includes(fields.get('tab')) ? fields.get('tab') : 'graph', chosen = fields.get('node') || ''
  const [now, setNow] = useState(serverNow()), [wrong, setWrong] = useState(null), [deleting, setDeleting] = useState(false), [busy, setBusy] = useState('')
  const agent = useLoad(() => (run ? get('/v1/agents/' + seg(run.agent), { graphVersion: run.graphVersion }) : Promise.resolve(null)), [run?.agent, run?.graphVersion])
  const documents = useMemo(() => (agent.value ? documentsOf(agent.value) : null), [agent.value])
  const atWork = run && !ENDED.includes(bare(run.state))
  useEffect(() => {
    if (!atWork || bare(run.state) === 'WAITING') return undefined
    const timer = setInterval(() => setNow(serverNow()), 500)
    return () => clearInterval(timer)
  }, [atWork, run?.state])
  if (!run) return html`<${Page} title=${t('run.title')}>${deleted ? html`<${Note} icon="trash">${t('run.deleted')}<//>` : error ? html`<${ErrorNote} error=${error} />` : html`<${Loading} />`}
    ${error && html`<p><a href="/runs">${t('runs.all')}</a></p>`}<//>`

  const act = (name, call) => async () => {
    setBusy(name)
    setWrong(null)
    try {
      await call()
      touch(runId)
    } catch (why) {
      setWrong(why)
    }
    setBusy('')
  }
  const cancel = act('cancel', () => post(`/v1/runs/${seg(runId)}:cancel`, { reason: t('cancel.by_person') }))
  const resume = act('resume', () => post(`/v1/runs/${seg(runId)}:resume`, { requestId: newId() }))
  const choose = key => setFields({ node: key === chosen ? '' : key })
  const usage = run.usage ?? {}
  const until = workedUntil(run, now)
  return html`<${Page} wide title=${run.labels?.title || run.runId} actions=${html`<${StateTag} state=${run.state} />
      ${ownPage(run) && html`<a class="button" href=${ownPage(run)}><${Icon} name="right" /><span>${t('run.own_page')}</span></a>`}
      ${atWork && html`<${Button} icon="stop" busy=${busy === 'cancel'} onClick=${cancel}>${t('run.cancel')}<//>`}
      ${resumable(run) && html`<${Button} kind="primary" icon="play" busy=${busy === 'resume'} onClick=${resume}>${t('run.resume')}<//>`}
      <${Button} kind="ghost" icon="trash" onClick=${() => setDeleting(true)}>${t('delete')}<//>`}>
    <${StatusLine} text=${`${word('run_state', run.state)}. ${t('runs.steps', { n: Number(run.step), count: count(run.step) })}`} />
    ${link.value === 'lost' && atWork && html`<${Note} kind="warn" icon="again">${t('link.lost')}<//>`}
    <${ErrorNote} error=${error} /><${ErrorNote} error=${wrong} />
    <div class="facts-strip"><${Facts} rows=${[[t('agent'), html`<a href=${'/agents/' + seg(run.agent)}>${run.agent}</a>`], [t('started'), html`<${Time} ms=${run.createdMs} now=${now} />`],
      [t('duration'), Number(run.startedMs) ? duration(until - Number(run.startedMs)) : '–'], [t('steps'), count(run.step)], [t('tokens'), count(Number(usage.inputTokens ?? 0) + Number(usage.outputTokens ?? 0))],
      [t('calls'), count(usage.modelCalls ?? 0)], [t('cost'), Number(usage.costMicros) || !Number(usage.unpricedCalls) ? cost(usage.costMicros) : t('cost.unknown')], [t('thread'), html`<a href=${'/runs?thread=' + encodeURIComponent(run.threadId)}>${run.threadId}</a>`]]} /></div>
    ${run.stopText && bare(run.state) !== 'WAITING' && !(bare(run.state) === 'SUCCEEDED' && run.stopReason === 'STOP_REASON_COMPLETED') && html`<${Note} kind=${bare(run.state) === 'FAILED' ? 'bad' : 'warn'} icon="warn"><strong>${word('stop_reason', run.stopReason)}</strong>
      <p dir="auto">${run.stopText}</p>${run.failures?.length > 1 && html`<ul>${run.failures.slice(0, 20).map(one => html`<li dir="auto"><code>${one.path ? one.path + '/' : ''}${one.node}</code> ${one.message}</li>`)}</ul>`}<//>`}
    ${resumable(run) && html`<${ResumeNote} run=${run} />`}
    <${Degradations} list=${run.degradations} />
    ${run.labels?.forked_from && html`<${Note} icon="fork"><p>${t('fork.of')} <a href=${'/runs/' + seg(run.labels.forked_from)}><code>${run.labels.forked_from}</code></a> · <a href=${`/runs/${seg(runId)}?tab=state&compare=${seg(run.labels.forked_from)}`}>${t('branches.compare')}</a></p><//>`}
    ${model.gap && html`<${Note} icon="warn">${t('run.gap')}<//>`}
    ${bare(run.state) === 'WAITING' && html`<${Interrupts} run=${run} documents=${documents} onAnswered=${() => touch(runId)} />`}
    <${Tabs} label=${t('run.views')} value=${tab} onChange=${id => setFields({ tab: id === 'graph' ? '' : id })} tabs=${VIEWS.map(id => ({ id, label: labelOf(id) }))} />
    <div role="tabpanel" aria-label=${labelOf(tab)}>
    ${tab === 'graph' && (documents ? html`<div class=${'columns graph-columns' + (chosen ? '' : ' alone')}><${Card} kind="flush"><${Graph} documents=${documents} model=${model} chosen=${chosen} onChoose=${choose} label=${t('graph.of', { name: run.agent })} /><//>
        ${chosen && html`<div class="side"><${NodeDetail} model=${model} documents=${documents} nodeKey=${chosen} onClose=${() => choose(chosen)} onFork=${node => setFields({ tab: 'state', node: '', before: node })} /></div>`}</div>
        <details class="card"><summary>${t('graph.table')}</summary><${GraphTable} model=${model} documents=${documents} chosen=${chosen} onChoose=${choose} /></details>` : agent.error ? html`<${ErrorNote} error=${agent.error} />` : html`<${Loading} />`)}
    ${tab === 'timeline' && html`<${Card}><${Timeline} model=${model} chosen=${chosen} onChoose=${key => setFields({ node: key })} now=${until} /><//>`}
    ${tab === 'state' && html`<${States} run=${run} model=${model} documents=${documents} before=${fields.get('before')} />`}
    ${tab === 'events' && html`<${Card}><${RunLog} model=${model} /><//>`}
    ${tab === 'output' && html`<${Card} title=${t('run.output')}>${run.outputJson ? html`<${JsonView} value=${parseJson(run.outputJson)} name=${'output-' + runId} />` : html`<p class="faint">${t(run.outputOmitted ? 'run.output_omitted' : 'run.no_output')}</p>`}
      <${Facts} rows=${[[t('run.id'), run.runId], [t('run.version'), run.graphVersion.slice(0, 16)], [t('run.request'), run.requestId], [t('run.owner'), run.owner], [t('run.accepted'), time(run.createdMs)], ...(run.resumptions ?? []).map(one => [t('run.resumed'), [time(one.timeMs), one.timedOut ? t('run.timed_out') : one.client, one.node].filter(Boolean).join(' · ')]), ...Object.entries(run.labels ?? {})]} /><//>`}
    </div>
    ${deleting && html`<${Dialog} title=${t('run.delete')} onClose=${() => setDeleting(false)}><p dir="auto">${t('run.delete_help', { thread: run.threadId })}</p>
      <div class="actions end"><${Button} kind="danger" icon="trash" onClick=${async () => {
        try {
          await remove('/v1/threads/' + seg(run.threadId), { cancelRuns: true })
          touch('')
          navigate('/runs')
        } catch (why) {
          setDeleting(false)
          setWrong(why)
        }
      }}>${t('delete')}<//></div><//>`}
  <//>`
}

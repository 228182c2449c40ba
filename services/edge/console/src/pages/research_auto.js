// A run of autonomous research: plan, choices, searches and drafts as they come, and the decisions of a person.
import { get, newId, parseJson, post, seg } from '../base/api.js'
import { decimal, percent, time } from '../base/format.js'
import { html, useState } from '../base/html.js'
import { touch } from '../base/shared_stream.js'
import { addCall, camel, useTyped } from '../base/typed_stream.js'
import { t, word } from '../base/words.js'
import { bare, Button, Card, Degradations, ErrorNote, Loading, Note, Page, StateTag, StatusLine, useFresh, useLoad } from '../parts/basics.js'
import { Icon } from '../parts/icons.js'
import { Report } from '../parts/report.js'
import { Spent } from './ask.js'
import { KINDS } from './research.js'

const start = { plan: null, log: [], draft: '', review: null, result: null, fresh: true }
function reduce(state, data) {
  const log = entry => [...state.log, { ...entry, id: data.eventId }]
  if (data.planned) return { ...state, plan: data.planned, log: log({ kind: 'planned', plan: data.planned }) }
  if (data.decided) return { ...state, fresh: true, result: null, log: log({ kind: 'decided', ...data.decided }) }
  if (data.searched) return { ...state, log: log({ kind: 'searched', ...data.searched }) }
  if (data.draftText !== undefined) return { ...state, fresh: false, draft: (state.fresh ? '' : state.draft) + data.draftText }
  if (data.reviewed) return { ...state, review: data.reviewed, log: log({ kind: 'reviewed', ...data.reviewed }) }
  return data.result ? { ...state, result: data.result, plan: data.result.plan ?? state.plan, draft: data.result.draft || state.draft } : state
}

const lines = text => text.split('\n').map(line => line.trim()).filter(Boolean)

function Decide({ runId, plan, waiting, onDecided }) {
  const [mode, setMode] = useState('approve'), [text, setText] = useState('')
  const [queries, setQueries] = useState((plan?.searchQueries ?? []).join('\n')), [points, setPoints] = useState((plan?.investigationPoints ?? []).join('\n'))
  const [busy, setBusy] = useState(false), [error, setError] = useState(null)
  const decision = () => ({
    approve: { approve: { remark: text } }, edit: { edit: { searchQueries: lines(queries), investigationPoints: lines(points), advice: text } },
    advise: { advise: { text } }, reject: { reject: { reason: text } }, stop: { stop: { reason: text } },
  })[mode]
  const needsText = mode === 'advise' || mode === 'reject'
  const send = async () => {
    setBusy(true)
    setError(null)
    try {
      await onDecided(decision())
    } catch (wrong) {
      setError(wrong)
      setBusy(false)
    }
  }
  return html`<section class="card ask-card" role="alert" aria-label=${t('decide.title')}><header class="card-head"><h2><${Icon} name="person" /> ${t(waiting.node === 'writer' ? 'decide.writer' : 'decide.supervisor')}</h2></header>
    <p>${t('decide.help')} ${Number(waiting.untilMs) ? t('decide.until', { time: time(waiting.untilMs), what: word('human_default', waiting.humanDefault) }) : ''}</p>
    <div class="choices" role="radiogroup" aria-label=${t('decide.title')}>${['approve', 'edit', 'advise', 'reject', 'stop'].map(one => html`<label key=${one} class="choice"><input type="radio" name="decision" value=${one} checked=${mode === one} onChange=${() => setMode(one)} /> ${t('decide.' + one)}</label>`)}</div>
    ${mode === 'edit' && html`<div class="row-fields wide"><div class="field"><label for="queries">${t('decide.queries')}</label><textarea id="queries" rows="5" dir="auto" value=${queries} onInput=${event => setQueries(event.currentTarget.value)}></textarea></div>
      <div class="field"><label for="points">${t('decide.points')}</label><textarea id="points" rows="5" dir="auto" value=${points} onInput=${event => setPoints(event.currentTarget.value)}></textarea></div></div>`}
    ${mode === 'reject' && waiting.rejectionsLeft && html`<p class="faint">${t('decide.rejections', { n: waiting.rejectionsLeft })}</p>`}
    <div class="field"><label for="decision-text">${t('decide.text_' + mode)}</label><textarea id="decision-text" rows="2" dir="auto" value=${text} onInput=${event => setText(event.currentTarget.value)}></textarea></div>
    <${ErrorNote} error=${error} />
    <div class="actions end"><${Button} kind=${mode === 'stop' || mode === 'reject' ? 'danger' : 'primary'} icon=${mode === 'reject' ? 'cross' : 'check'} busy=${busy} disabled=${busy || (needsText && !text.trim()) || (mode === 'edit' && !lines(queries).length)} onClick=${send}>${t('decide.send_' + mode)}<//></div></section>`
}

const Scores = ({ review }) => html`<dl class="scores">${[['overall', review.overallScore], ...['factCheck', 'completeness', 'logic', 'format'].map(name => [name, review.scores?.[name]])].map(([name, value]) => html`
  <div key=${name}><dt>${t('score.' + name)}</dt><dd><span class="meter"><span style=${{ width: (Number(value) || 0) * 100 + '%' }}></span></span>${decimal(value)}</dd></div>`)}</dl>`

function LogRow({ one }) {
  if (one.kind === 'planned') return html`<li class="log-row"><${Icon} name="interview" size="15" /><div><strong>${t('auto.planned')}</strong><ul>${one.plan.searchQueries?.map(text => html`<li dir="auto">${text}</li>`)}</ul></div></li>`
  if (one.kind === 'decided') return html`<li class="log-row"><${Icon} name="right" size="15" /><div><strong>${word('next_action', one.nextAction)}</strong> <span class="faint">${t('auto.had', { n: one.progress?.dataCount ?? 0, coverage: percent(one.progress?.coverage) })}</span><p class="faint" dir="auto">${one.reasoning}</p></div></li>`
  if (one.kind === 'searched') return html`<li class=${'log-row' + (one.statusCode ? ' bad' : '')}><${Icon} name="research" size="15" /><div><span dir="auto">${one.query}</span> <span class="faint">${one.statusCode ? one.message : t('auto.found', { n: one.resultCount, fresh: one.newCount })}</span></div></li>`
  return html`<li class="log-row"><${Icon} name=${one.approved ? 'check' : 'again'} size="15" /><div><strong>${t(one.approved ? 'auto.approved' : 'auto.not_approved')}</strong> <span class="faint">${decimal(one.overallScore)}</span>
    ${one.feedback && html`<p class="faint" dir="auto">${one.feedback}</p>`}</div></li>`
}

// What the run waits for and plans, as its record says, where this browser did not follow it.
const waitingOf = run => run.interrupts?.[0] && { interruptId: run.interrupts[0].interruptId, node: run.interrupts[0].node, untilMs: 0 }
const planOf = run => camel(parseJson(run?.outputJson, {})).taskPlan

export function AutoRun({ runId }) {
  const [turn, setTurn] = useState(0)
  const { state, error, done, link, known } = useTyped(KINDS.autonomous.kind, runId, { initial: start, reduce, turn })
  const { value, error: lost, again } = useLoad(() => get('/v1/runs/' + seg(runId)), [runId, done, turn])
  const run = value?.run
  useFresh(again, run && !Number(run.endedMs))
  const { result } = state
  const [refused, setRefused] = useState(null)
  const cancel = () => post(`/v1/runs/${seg(runId)}:cancel`, { reason: t('cancel.by_person') }).then(() => { setRefused(null); touch(runId); again() }, setRefused)
  const isWaiting = done && bare(run?.state) === 'WAITING'
  const isBehind = !known || bare(result?.outcome?.state) !== 'WAITING' || result.waiting?.interruptId !== run?.interrupts?.[0]?.interruptId // decided in another browser
  const waiting = isWaiting ? (isBehind ? waitingOf(run) : result.waiting) : null
  const plan = isBehind ? planOf(run) ?? state.plan : state.plan
  const decided = async decision => {
    const body = { runId, decision, interruptId: waiting.interruptId, options: { requestId: newId(), keepRunning: true } }
    addCall(KINDS.autonomous.kind, runId, '/v1/autonomousResearch:resumeStream', body)
    touch(runId)
    setTurn(turn + 1)
  }
  const ended = result && bare(result.outcome?.state) !== 'WAITING'
  return html`<${Page} title=${run?.labels?.title || t('research.autonomous')} actions=${html`${run && html`<${StateTag} state=${run.state} />`}
      ${(!done || waiting) && html`<${Button} icon="stop" onClick=${cancel}>${t('cancel')}<//>`}
      <a class="button" href=${'/runs/' + seg(runId)}><${Icon} name="runs" /><span>${t('to_run')}</span></a>`}>
    <${StatusLine} text=${waiting ? t('decide.title') : ended ? t('research.done') : t('auto.progress', { n: state.log.length })} />
    ${link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.lost')}<//>`}
    <${ErrorNote} error=${lost} onAgain=${again} /><${ErrorNote} error=${refused} /><${ErrorNote} error=${error} onAgain=${() => setTurn(turn + 1)} />
    ${waiting && html`<${Decide} key=${waiting.interruptId} runId=${runId} plan=${plan} waiting=${waiting} onDecided=${decided} />`}
    ${(!known || (done && bare(result?.outcome?.state) === 'WAITING' && run && bare(run.state) !== 'WAITING')) && run && html`<${Note} icon="runs">${t('auto.elsewhere')} <a href=${'/runs/' + seg(runId)}>${t('to_run')}</a><//>`}
    ${known && !state.log.length && !result && !error && html`<${Card}><${Loading} /><//>`}
    <div class="columns"><div>
      ${state.draft ? html`<${Card} title=${t(ended ? 'research.report' : 'research.draft')}>
          ${ended && html`<p><span class=${'tag ' + (result.stopReason === 'RESEARCH_STOP_REASON_APPROVED' ? 'good' : 'wait')}>${word('research_stop_reason', result.stopReason)}</span></p>`}
          <${Report} text=${state.draft} citations=${result?.citations} name=${run?.labels?.title} writing=${!result} />
          <${Degradations} list=${result?.outcome?.degradations} /><${Spent} usage=${result?.outcome?.usage} ms=${run ? Number(run.endedMs) - Number(run.startedMs) : 0} /><//>`
        : state.plan && html`<${Card} title=${t('auto.plan')}><p dir="auto">${state.plan.planText}</p><h3>${t('auto.points')}</h3><ul>${state.plan.investigationPoints?.map(one => html`<li dir="auto">${one}</li>`)}</ul>
          <h3>${t('auto.queries')}</h3><ul>${state.plan.searchQueries?.map(one => html`<li dir="auto">${one}</li>`)}</ul><//>`}
    </div><div class="side">
      ${(result?.review ?? state.review) && html`<${Card} title=${t('auto.review')} level=${3}><${Scores} review=${result?.review ?? state.review} />
        ${(result?.review ?? state.review).issues?.length > 0 && html`<details><summary>${t('auto.issues', { n: (result?.review ?? state.review).issues.length })}</summary><ul>${(result?.review ?? state.review).issues.map(one => html`<li dir="auto">${one.description} <span class="faint">${one.location}</span></li>`)}</ul></details>`}<//>`}
      ${state.log.length > 0 && html`<${Card} title=${t('auto.loop')} level=${3}><ol class="log-rows">${state.log.map((one, i) => html`<${LogRow} key=${i} one=${one} />`)}</ol><//>`}
      ${result?.humanDecisions?.length > 0 && html`<${Card} title=${t('auto.decisions')} level=${3}><ul class="log-rows">${result.humanDecisions.map((one, i) => html`<li key=${i} class="log-row"><${Icon} name="person" size="15" /><div><strong>${word('human_action', one.action)}</strong> <span class="faint">${[one.timedOut ? t('auto.timed_out') : one.by, time(one.timeMs)].filter(Boolean).join(' · ')}</span><p dir="auto">${one.text}</p></div></li>`)}</ul><//>`}
      ${result?.sources?.length > 0 && html`<${Card} title=${t('auto.sources', { n: result.sources.length })} level=${3}><details><summary>${t('show')}</summary><ul class="note-sources">${result.sources.slice(0, 200).map(one => html`<li dir="auto">${one.title || one.url} <span class="faint">${one.url}</span></li>`)}</ul></details><//>`}
    </div></div>
  <//>`
}

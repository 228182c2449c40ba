// Ask: a question, its plan and subtasks as they go, and the answer with a source for every sentence.
import { get, parseJson, post, seg } from '../base/api.js'
import { cost, count, duration, shortened } from '../base/format.js'
import { html, useState } from '../base/html.js'
import { draft } from '../base/kept.js'
import { navigate } from '../base/router.js'
import { touch } from '../base/shared_stream.js'
import { camel, startTyped, useTyped } from '../base/typed_stream.js'
import { t, word } from '../base/words.js'
import { CitedText, Quote } from '../parts/answer.js'
import { bare, Button, Card, Degradations, isGatewayExtractive, ErrorNote, Loading, Note, Page, StateTag, StatusLine, Time, useFresh, useLoad } from '../parts/basics.js'
import { CollectionPicker } from '../parts/collections.js'
import { Icon } from '../parts/icons.js'

const AGENT = 'helpdesk', KIND = 'asked', TITLE_MAX = 300

// Enter sends, Shift+Enter breaks the line; not while an input method composes.
export const sendKey = submit => event => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return
  event.preventDefault()
  submit()
}

export function Recent({ agent, path, title }) {
  const { value, again } = useLoad(() => get('/v1/runs', { agent, pageSize: 8 }), [agent])
  useFresh(again, value?.runs?.some(run => !Number(run.endedMs)))
  if (!value?.runs?.length) return null
  return html`<${Card} title=${title}><ul class="rows">${value.runs.map(run => html`<li key=${run.runId}><a href=${`${path}/${seg(run.runId)}`}>
    <span class="row-main" dir="auto">${run.labels?.title || run.runId}</span><${StateTag} state=${run.state} /><${Time} ms=${run.createdMs} /></a></li>`)}</ul><//>`
}

export function Ask() {
  const [question, setQuestion] = useState(draft.get('ask'))
  const [collections, setCollections] = useState([])
  const [busy, setBusy] = useState(false), [error, setError] = useState(null), [link, setLink] = useState('')
  const submit = async () => {
    if (!question.trim() || busy) return
    setBusy(true)
    setError(null)
    try {
      const { runId } = await startTyped(KIND, '/v1/helpdesk:askStream', { question, collections }, question, setLink)
      draft.set('ask', '')
      navigate('/ask/' + seg(runId))
    } catch (wrong) {
      setError(wrong)
      setBusy(false)
    }
  }
  return html`<${Page} title=${t('ask.title')} lead=${t('ask.lead')}>
    <${Card} kind="composer"><label for="question" class="visually-hidden">${t('ask.question')}</label>
      <textarea id="question" rows="3" dir="auto" maxlength="10000" placeholder=${t('ask.placeholder')} value=${question}
        onInput=${event => { setQuestion(event.currentTarget.value); draft.set('ask', event.currentTarget.value) }} onKeyDown=${sendKey(submit)}></textarea>
      <${CollectionPicker} value=${collections} onChange=${setCollections} />
      <div class="actions end"><${Button} kind="primary" icon="ask" busy=${busy} onClick=${submit}>${t('ask.send')}<//></div><//>
    ${busy && link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.wait')}<//>`}
    <${ErrorNote} error=${error} />
    <${Recent} agent=${AGENT} path="/ask" title=${t('ask.recent')} />
  <//>`
}

const stageOrder = ['SELECTING_TOOLS', 'RUNNING_TOOLS', 'ANSWERING', 'REFLECTING', 'REFLECTED', 'DONE', 'FAILED']
const start = { plan: null, subtasks: {}, answer: '', result: null }
function reduce(state, data) {
  if (data.planned) return { ...state, plan: data.planned.subtasks ?? [] }
  if (data.subtask) {
    const one = data.subtask
    const before = state.subtasks[one.subtaskNumber] ?? {}
    const next = { ...before, ...one, reflection: one.reflection ?? before.reflection, text: one.text || before.text, toolNames: one.toolNames?.length ? one.toolNames : before.toolNames }
    return { ...state, subtasks: { ...state.subtasks, [one.subtaskNumber]: next } }
  }
  if (data.answerText !== undefined) return { ...state, answer: state.answer + data.answerText }
  return data.result ? { ...state, result: data.result, plan: data.result.plan?.subtasks ?? state.plan } : state
}

// A result from the state of a run, where this browser did not ask the question.
function resultOf(run) {
  const output = camel(parseJson(run?.outputJson, {}))
  return { question: output.question, plan: { subtasks: output.plan ?? [] }, answer: output.lastAnswer ?? '', citations: output.citations ?? [],
    found: (output.citations ?? []).length > 0, outcome: { usage: run.usage, degradations: run.degradations, state: run.state, stopReason: run.stopReason, stopText: run.stopText },
    subtasks: (output.subtaskResults ?? []).map(one => ({ taskName: one.subtask, ...one })) }
}

function Step({ number, text, progress, done, level }) {
  const stage = String(progress?.stage ?? '').replace('SUBTASK_STAGE_', '')
  const ended = done || stage === 'DONE' || stage === 'FAILED'
  const good = done ? done.found : progress?.found
  const look = stage === 'FAILED' ? 'bad' : ended ? (good ? 'good' : 'quiet') : progress ? 'live' : 'quiet'
  const steps = Math.max(0, stageOrder.indexOf(stage))
  return html`<li class=${'step ' + look}><span class="step-mark" aria-hidden="true">${ended ? html`<${Icon} name=${stage === 'FAILED' ? 'cross' : good ? 'check' : 'minus'} size="14" />` : number}</span>
    <div><p class="step-text" dir="auto">${text}</p>
      <p class="step-stage">${ended ? t(stage === 'FAILED' || done?.statusCode ? 'subtask.failed' : good ? 'subtask.found' : 'subtask.not_found') : progress ? word('subtask_stage', progress.stage) : t('subtask.waits')}
        ${progress?.toolNames?.length && !ended ? html` <code>${[...new Set(progress.toolNames)].join(', ')}</code>` : ''}
        ${(done?.challengeCount ?? progress?.challengeCount) > 1 ? html` · ${t('subtask.try', { n: done?.challengeCount ?? progress.challengeCount })}` : ''}</p>
      ${!ended && progress ? html`<span class="meter" aria-hidden="true"><span style=${{ width: steps / 5 * 100 + '%' }}></span></span>` : ''}
      ${(done?.subtaskAnswer || progress?.text) && html`<details><summary>${t('subtask.answer')}</summary><p class="step-answer" dir="auto">${done?.subtaskAnswer || progress.text}</p>
        ${progress?.reflection?.advice && html`<p class="faint" dir="auto">${t('subtask.review')} ${progress.reflection.advice}</p>`}</details>`}
    </div></li>`
}

export function Spent({ usage, ms }) {
  if (!usage) return null
  return html`<p class="spent faint">${[ms > 0 && duration(ms), t('spent.calls', { n: Number(usage.modelCalls), count: count(usage.modelCalls) }),
    t('spent.tools', { n: Number(usage.toolCalls), count: count(usage.toolCalls) }), t('spent.tokens', { count: count(Number(usage.inputTokens) + Number(usage.outputTokens)) }),
    Number(usage.modelCalls) > Number(usage.unpricedCalls) && cost(usage.costMicros)].filter(Boolean).join(' · ')}</p>`
}

// What a person can do about a question without an answer: bring documents in, or connect a model.
function Unanswered({ list }) {
  const { value: base, busy } = useLoad(() => get('/v1/knowledgeBase'), [])
  if (busy && !base) return null
  if (base && !base.collections?.length) return html`<${Note}><p>${t('collections.none')} <a href="/documents">${t('nav.documents')}</a></p><//>`
  if (list?.length && list.every(isGatewayExtractive)) return html`<${Note}><p>${t('ask.no_model')}</p><//>`
  return html`<${Degradations} list=${list} />`
}

export function AskRun({ runId }) {
  const [turn, setTurn] = useState(0)
  const { state, error, done, link, known } = useTyped(KIND, runId, { initial: start, reduce, turn })
  const { value: kept, error: lost, again } = useLoad(() => get('/v1/runs/' + seg(runId)), [runId, done, !!state.plan])
  const run = kept?.run
  useFresh(again, !known && run && ['QUEUED', 'RUNNING'].includes(bare(run.state)), 2000)
  const result = state.result ?? (!known && run?.outputJson ? resultOf(run) : null)
  const plan = state.plan ?? result?.plan?.subtasks
  const title = shortened(result?.question || run?.labels?.title || t('ask.title'), TITLE_MAX)
  const [refused, setRefused] = useState(null)
  const cancel = () => post(`/v1/runs/${seg(runId)}:cancel`, { reason: t('cancel.by_person') }).then(() => { setRefused(null); touch(runId); again() }, setRefused)
  const ended = plan ? Object.values(state.subtasks).filter(one => /DONE|FAILED/.test(one.stage)).length : 0
  return html`<${Page} title=${title} actions=${html`${run && html`<${StateTag} state=${run.state} />`}
      ${!done && html`<${Button} icon="stop" onClick=${cancel}>${t('cancel')}<//>`}
      <a class="button" href=${'/runs/' + seg(runId)}><${Icon} name="runs" /><span>${t('to_run')}</span></a>
      <a class="button" href="/ask"><${Icon} name="plus" /><span>${t('ask.another')}</span></a>`}>
    <${StatusLine} text=${result ? t('ask.answered') : plan ? t('ask.progress', { n: plan.length, done: ended }) : t('ask.planning')} />
    ${link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.lost')}<//>`}
    ${lost && html`<${ErrorNote} error=${lost} onAgain=${again} />`}<${ErrorNote} error=${refused} />
    ${error && html`<${ErrorNote} error=${error} onAgain=${() => setTurn(turn + 1)} />`}
    ${plan?.length > 0 && html`<${Card} title=${t('ask.plan')} kind=${result ? 'settled' : ''}><ol class="steps">${plan.map((text, i) => html`<${Step} key=${i} number=${i + 1} text=${text}
      progress=${state.subtasks[i + 1]} done=${result?.subtasks?.[i]} />`)}</ol><//>`}
    ${!plan && !error && !lost && !result && html`<${Card}><${Loading} /><//>`}
    ${!result && state.answer && html`<${Card} title=${t('ask.writing')}><p class="answer-text" dir="auto">${state.answer}<span class="caret" aria-hidden="true"></span></p><//>`}
    ${result && html`<${Card} title=${t('ask.answer')} kind="answer-card">
      ${!result.found && html`<${Note} kind="warn" icon="warn">${t('ask.not_found')}<//>`}
      <${CitedText} text=${result.answer} citations=${result.citations} />
      ${result.notFound?.lookedFor?.length > 0 && html`<div class="missing">${result.found && html`<h3>${t('ask.missing')}</h3><ul>${result.notFound.lookedFor.map(one => html`<li dir="auto">${one}</li>`)}</ul>`}
        ${result.notFound.nearest?.length > 0 && html`<details><summary>${t('ask.nearest')}</summary><ul class="hits">${result.notFound.nearest.map(hit => html`<${Quote} hit=${hit} />`)}</ul></details>`}</div>`}
      <${result.found ? Degradations : Unanswered} list=${result.outcome?.degradations} />
      <${Spent} usage=${result.outcome?.usage} ms=${run ? Number(run.endedMs) - Number(run.startedMs) : 0} /><//>`}
    ${known === false && run && !result && bare(run.state) !== 'RUNNING' && bare(run.state) !== 'QUEUED' && html`<${Note}><p dir="auto">${run.stopText || word('run_state', run.state)}</p><//>`}
  <//>`
}

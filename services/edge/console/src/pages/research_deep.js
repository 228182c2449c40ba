// A run of deep research: cycles with their queries, the notes as they come, gaps, the report, and further questions.
import { get, newId, parseJson, post, seg } from '../base/api.js'
import { html, useState } from '../base/html.js'
import { touch } from '../base/shared_stream.js'
import { camel, useTyped } from '../base/typed_stream.js'
import { t } from '../base/words.js'
import { bare, Button, Card, Degradations, ErrorNote, Loading, Note, Page, StateTag, StatusLine, useFresh, useLoad } from '../parts/basics.js'
import { Icon } from '../parts/icons.js'
import { Markdown } from '../parts/markdown.js'
import { Report } from '../parts/report.js'
import { CitedText } from '../parts/answer.js'
import { Spent } from './ask.js'
import { KINDS } from './research.js'

const start = { cycles: [], notes: [], report: '', result: null }
function reduce(state, data) {
  if (data.planned) return { ...state, cycles: [...state.cycles.filter(one => one.cycle !== data.planned.cycle), { ...data.planned, searches: {} }] }
  if (data.searched) return { ...state, cycles: state.cycles.map(one => (one.cycle === data.searched.cycle ? { ...one, searches: { ...one.searches, [data.searched.query]: data.searched } } : one)) }
  if (data.noted) return { ...state, notes: [...state.notes, data.noted] }
  if (data.reportText !== undefined) return { ...state, report: state.report + data.reportText }
  return data.result ? { ...state, result: data.result } : state
}

export const NoteCard = ({ note }) => html`<details class="note-card"><summary dir="auto"><${Icon} name="file" size="15" />${note.query}</summary>
  <${Markdown} text=${note.summaryMd} />
  ${note.sources?.length > 0 && html`<ul class="note-sources">${note.sources.map(one => html`<li dir="auto">${one.title || one.uri} <span class="faint">${one.uri}</span></li>`)}</ul>`}</details>`

function Query({ text, search }) {
  const look = search ? (search.statusCode ? 'bad' : search.resultCount ? 'good' : 'quiet') : 'live'
  return html`<li class=${'step ' + look}><span class="step-mark" aria-hidden="true">${search ? html`<${Icon} name=${search.statusCode ? 'cross' : search.resultCount ? 'check' : 'minus'} size="14" />` : html`<${Icon} name="research" size="14" />`}</span>
    <div><p class="step-text" dir="auto">${text}</p><p class="step-stage">${search ? (search.statusCode ? search.message : t('research.found', { n: search.resultCount })) : t('research.searching')}</p></div></li>`
}

function FollowUps({ runId }) {
  const [asked, setAsked] = useState([]), [text, setText] = useState(''), [busy, setBusy] = useState(false), [error, setError] = useState(null)
  const ask = async event => {
    event.preventDefault()
    if (!text.trim() || busy) return
    setBusy(true)
    setError(null)
    try {
      const { result } = await post('/v1/deepResearch:followUp', { runId, question: text, options: { requestId: newId() } })
      setAsked([...asked, result])
      setText('')
    } catch (wrong) {
      setError(wrong)
    }
    setBusy(false)
  }
  return html`<${Card} title=${t('research.follow_up')}>${asked.map((one, i) => html`<div key=${i} class="follow-up"><h3 dir="auto">${one.question}</h3><${CitedText} text=${one.reportMd} citations=${one.citations} /></div>`)}
    <${ErrorNote} error=${error} />
    <form class="chat-input" onSubmit=${ask}><label class="visually-hidden" for="follow-up">${t('research.follow_up')}</label>
      <textarea id="follow-up" rows="2" dir="auto" placeholder=${t('research.follow_up_help')} value=${text} onInput=${event => setText(event.currentTarget.value)}></textarea>
      <${Button} kind="primary" type="submit" busy=${busy} onClick=${ask}>${t('ask.send')}<//></form><//>`
}

function resultOf(run) {
  const output = camel(parseJson(run?.outputJson, {}))
  return { reportMd: output.reportMd ?? output.report ?? '', citations: output.citations ?? [], gaps: output.gaps ?? [], notes: output.notes ?? [], outcome: { usage: run.usage, degradations: run.degradations } }
}

export function DeepRun({ runId }) {
  const [turn, setTurn] = useState(0)
  const { state, error, done, link, known } = useTyped(KINDS.deep.kind, runId, { initial: start, reduce, turn })
  const { value, error: lost, again } = useLoad(() => get('/v1/runs/' + seg(runId)), [runId, done, state.cycles.length > 0])
  const run = value?.run
  const [refused, setRefused] = useState(null)
  useFresh(again, run && !Number(run.endedMs))
  const result = state.result ?? (!known && run?.outputJson ? resultOf(run) : null)
  const notes = result?.notes?.length ? result.notes : state.notes
  const report = result?.reportMd || state.report
  const cycles = state.cycles
  return html`<${Page} title=${run?.labels?.title || t('research.deep')} actions=${html`${run && html`<${StateTag} state=${run.state} />`}
      ${!done && html`<${Button} icon="stop" onClick=${() => post(`/v1/runs/${seg(runId)}:cancel`, { reason: t('cancel.by_person') }).then(() => { setRefused(null); touch(runId); again() }, setRefused)}>${t('cancel')}<//>`}
      <a class="button" href=${'/runs/' + seg(runId)}><${Icon} name="runs" /><span>${t('to_run')}</span></a>`}>
    <${StatusLine} text=${result ? t('research.done') : t('research.progress', { cycle: cycles.length, n: notes.length })} />
    ${link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.lost')}<//>`}
    <${ErrorNote} error=${lost} onAgain=${again} /><${ErrorNote} error=${refused} /><${ErrorNote} error=${error} onAgain=${() => setTurn(turn + 1)} />
    ${!cycles.length && !result && !error && html`<${Card}><${Loading} /><//>`}
    <div class="columns"><div>
      ${report ? html`<${Card} title=${t('research.report')}><${Report} text=${report} citations=${result?.citations} name=${run?.labels?.title} writing=${!result} />
        <${Degradations} list=${result?.outcome?.degradations} /><${Spent} usage=${result?.outcome?.usage} ms=${run ? Number(run.endedMs) - Number(run.startedMs) : 0} /><//>` : ''}
      ${result && bare(run?.state) === 'SUCCEEDED' && html`<${FollowUps} runId=${runId} />`}</div>
    <div class="side">
      ${cycles.map(one => html`<${Card} key=${one.cycle} title=${t('research.cycle', { n: one.cycle })} level=${3}>
        ${one.plan?.reasoning && html`<p class="faint" dir="auto">${one.plan.reasoning}</p>`}
        <ol class="steps">${(one.plan?.queries ?? []).map(text => html`<${Query} key=${text} text=${text} search=${one.searches[text]} />`)}</ol>
        ${one.plan?.gaps?.length > 0 && html`<p class="label">${t('research.gaps')}</p><ul>${one.plan.gaps.map(gap => html`<li dir="auto">${gap}</li>`)}</ul>`}<//>`)}
      ${notes.length > 0 && html`<${Card} title=${t('research.notes')} level=${3}>${notes.map((note, i) => html`<${NoteCard} key=${i} note=${note} />`)}<//>`}
      ${result?.gaps?.length > 0 && html`<${Card} title=${t('research.still_open')} level=${3}><ul>${result.gaps.map(gap => html`<li dir="auto">${gap}</li>`)}</ul><//>`}
    </div></div>
  <//>`
}

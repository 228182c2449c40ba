// What a run waits for, of any kind: a question with a form of its schema or as JSON, or leave to go on at a node.
import { get, newId, parseJson, post, seg } from '../base/api.js'
import { time } from '../base/format.js'
import { html, useState } from '../base/html.js'
import { genericPath } from '../base/run_model.js'
import { t } from '../base/words.js'
import { Button, ErrorNote, Loading, Note, useLoad } from '../parts/basics.js'
import { Icon } from '../parts/icons.js'
import { JsonView } from '../parts/json_view.js'
import { Markdown } from '../parts/markdown.js'
import { AnswerEditor, initialOf, JsonText } from '../parts/schema_form.js'

const where = one => [one.path, one.node].filter(Boolean).join('/') + (one.branch ? ` [${one.branch}]` : '')

const TYPES = { string: { type: 'string' }, integer: { type: 'integer' }, number: { type: 'number' }, boolean: { type: 'boolean' }, 'string[]': { type: 'array', items: { type: 'string' } } }

// A question without a schema takes what the field of the state takes that the answer is written into.
function schemaOf(one, documents) {
  if (one.answerSchemaJson || !documents) return parseJson(one.answerSchemaJson)
  let place = documents.root, graph = null
  for (const part of [...genericPath(one.path).split('/').filter(Boolean), one.node]) {
    graph = documents.all.get(place)
    place = graph?.nodes?.[part]?.graph
  }
  const field = graph?.state?.[graph.nodes?.[one.node]?.into]
  return field?.reduce ? null : TYPES[field?.type] ?? null
}

function Question({ one, schema, busy, onAnswer }) {
  const payload = parseJson(one.payloadJson)
  const quick = schema?.type === 'boolean' ? [{ value: true, label: t('approve') }, { value: false, label: t('reject') }]
    : schema?.enum?.length <= 4 ? schema.enum.map(value => ({ value, label: String(value) })) : null
  const [value, setValue] = useState(() => initialOf(schema) ?? (schema?.type === 'object' ? {} : undefined)), [valid, setValid] = useState(true)
  const change = (next, good = true) => {
    setValue(next)
    setValid(good)
  }
  return html`<article class="question"><p class="faint"><code>${where(one)}</code> · ${t('asked')} ${time(one.askedMs)}${Number(one.expiresMs) > 0 && html` · ${t('interrupt.expires', { time: time(one.expiresMs) })}`}</p>
    ${one.question && html`<${Markdown} text=${one.question} />`}
    ${payload !== null && html`<details open=${JSON.stringify(payload).length < 2000}><summary>${t('interrupt.payload')}</summary><${JsonView} value=${payload} name=${one.key || 'payload'} /></details>`}
    ${quick ? html`<div class="actions">${quick.map((choice, i) => html`<${Button} key=${i} kind=${i ? '' : 'primary'} busy=${busy} onClick=${() => onAnswer(one, choice.value)}>${choice.label}<//>`)}</div>`
      : html`<${AnswerEditor} schema=${schema} value=${value} onChange=${change} />
        <div class="actions"><${Button} kind="primary" icon="check" busy=${busy} disabled=${busy || !valid || value === undefined} onClick=${() => onAnswer(one, value)}>${t('interrupt.answer')}<//></div>`}
  </article>`
}

function Stop({ list, busy, onGo }) {
  const [update, setUpdate] = useState(undefined), [valid, setValid] = useState(true), [open, setOpen] = useState(false)
  return html`<article class="question">${list.map(one => html`<p key=${one.interruptId}>${t(one.kind === 'INTERRUPT_KIND_BEFORE' ? 'interrupt.before' : 'interrupt.after')} <code>${where(one)}</code>
      ${Number(one.expiresMs) > 0 && html` · ${t('interrupt.expires', { time: time(one.expiresMs) })}`}</p>`)}
    ${open && html`<div class="field"><label for="stop-update">${t('interrupt.update')}</label><${JsonText} id="stop-update" value=${{}} onChange=${(next, good) => { setUpdate(next); setValid(good) }} /></div>`}
    <div class="actions"><${Button} kind="primary" icon="play" busy=${busy} disabled=${busy || !valid} onClick=${() => onGo(update)}>${t('interrupt.go')}<//>
      ${!open && html`<${Button} kind="ghost" onClick=${() => setOpen(true)}>${t('interrupt.with_update')}<//>`}</div></article>`
}

export function Interrupts({ run, documents, onAnswered }) {
  const { value, error, again } = useLoad(() => get(`/v1/threads/${seg(run.threadId)}/state`), [run.runId, run.updatedMs])
  const [busy, setBusy] = useState(false), [wrong, setWrong] = useState(null), [accepted, setAccepted] = useState(null)
  const list = value?.runId === run.runId && value.interrupts?.length ? value.interrupts : run.interrupts ?? []
  const send = async body => {
    setBusy(true)
    setWrong(null)
    try {
      await post(`/v1/runs/${seg(run.runId)}:resume`, { requestId: newId(), ...body })
      setAccepted(body.answers?.[0]?.answerJson ?? '')
      onAnswered()
    } catch (why) {
      setWrong(why)
      again()
    }
    setBusy(false)
  }
  const questions = list.filter(one => one.kind === 'INTERRUPT_KIND_QUESTION'), stops = list.filter(one => one.kind !== 'INTERRUPT_KIND_QUESTION')
  return html`<section class="card ask-card" role="alert" aria-label=${t('interrupt.title')}><header class="card-head"><h2><${Icon} name="person" /> ${t('interrupt.title')}</h2></header>
    ${!list.length && (error ? html`<${ErrorNote} error=${error} />` : html`<${Loading} />`)}
    ${questions.map(one => [one, schemaOf(one, documents)]).map(([one, schema]) => html`<${Question} key=${one.interruptId + (schema ? '' : ' json')} one=${one} schema=${schema} busy=${busy} onAnswer=${(question, answer) => send({ answers: [{ interruptId: question.interruptId, answerJson: JSON.stringify(answer) }] })} />`)}
    ${stops.length > 0 && html`<${Stop} list=${stops} busy=${busy} onGo=${update => send(update && Object.keys(update).length ? { update: { updateJson: JSON.stringify(update) } } : {})} />`}
    ${(run.moreInterrupts || value?.moreInterrupts) && html`<p class="faint">${t('interrupt.more')}</p>`}
    <${ErrorNote} error=${wrong} />
    ${accepted !== null && html`<${Note} kind="good" icon="check">${t('interrupt.accepted')} ${accepted && html`<code>${accepted.slice(0, 200)}</code>`}<//>`}</section>`
}

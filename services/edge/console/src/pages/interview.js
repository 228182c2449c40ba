// Interview: the conversation on one side, the form with its values and quotes on the other, and the confirmation.
import { get, newId, post, remove, seg } from '../base/api.js'
import { html, useEffect, useLayoutEffect, useRef, useState } from '../base/html.js'
import { draft } from '../base/kept.js'
import { navigate } from '../base/router.js'
import { onTouched, touch } from '../base/shared_stream.js'
import { readStream } from '../base/sse.js'
import { lang, t, word } from '../base/words.js'
import { Button, Card, Dialog, Empty, ErrorNote, Field, Loading, Note, Page, StatusLine, Time, useFresh, useLoad } from '../parts/basics.js'
import { Icon } from '../parts/icons.js'
import { sendKey } from './ask.js'
import { exampleForm } from './interview_example.js'

function relaxed(text) { // JSON with comments and spare commas, as the samples are written
  const bare = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*/g, (_, string) => string ?? '').replace(/("(?:[^"\\]|\\.)*")|,(\s*[}\]])/g, (_, string, end) => string ?? end)
  return JSON.parse(bare)
}

// A form of the contract as people write it: snake_case names and only_if as an object are taken too.
function formOf(text) {
  const form = relaxed(text)
  if (form.type === 'object' && form.properties) return { schemaJson: JSON.stringify(form), title: form.title ?? '' }
  for (const field of form.fields ?? []) {
    if (field.only_if) {
      field.onlyIfJson = JSON.stringify(field.only_if)
      delete field.only_if
    }
  }
  return form
}

// What the browser knows of the person, so that the interview need not ask for it.
function bootstrap() {
  const region = new Intl.Locale(navigator.language || 'en').region
  return { language: lang.value, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...(/^[A-Z]{2}$/.test(region) ? { country: region } : {}) }
}

export function Interviews() {
  const { value, error, again } = useLoad(() => get('/v1/interviews', { pageSize: 50 }), [])
  const [making, setMaking] = useState(false)
  useFresh(again, value?.sessions?.some(one => !one.confirmed))
  return html`<${Page} title=${t('interview.title')} lead=${t('interview.lead')} actions=${html`<${Button} kind="primary" icon="plus" onClick=${() => setMaking(true)}>${t('interview.new')}<//>`}>
    <${ErrorNote} error=${error} onAgain=${again} />
    ${!value && !error && html`<${Loading} />`}
    ${value && (value.sessions?.length ? html`<${Card}><ul class="rows">${value.sessions.map(one => html`<li key=${one.sessionId}><a href=${'/interview/' + seg(one.sessionId)}>
        <span class="row-main" dir="auto">${one.labels?.title || one.sessionId}</span>
        <span class=${'tag ' + (one.confirmed ? 'good' : 'quiet')}>${one.confirmed ? t('interview.confirmed') : t('interview.done_of', { done: one.fieldsDone, n: one.fields })}</span>
        <${Time} ms=${one.updatedMs} /></a></li>`)}</ul><//>`
      : html`<${Empty} icon="interview">${t('interview.none')}<//>`)}
    ${making && html`<${NewInterview} onClose=${() => setMaking(false)} />`}
  <//>`
}

function NewInterview({ onClose }) {
  const [text, setText] = useState(() => JSON.stringify(exampleForm(lang.value), null, 2))
  const [error, setError] = useState(null), [busy, setBusy] = useState(false), [wrong, setWrong] = useState('')
  const file = async event => {
    const chosen = event.currentTarget.files[0]
    if (chosen) setText(await chosen.text())
  }
  const begin = async () => {
    let form
    try {
      form = formOf(text)
      setWrong('')
    } catch (why) {
      return setWrong(why.message)
    }
    setBusy(true)
    try {
      const reply = await post('/v1/interviews', { requestId: newId(), form, bootstrap: bootstrap(),
        labels: { title: [...(form.title || t('interview.untitled'))].slice(0, 60).join('') } })
      navigate('/interview/' + seg(reply.sessionId))
    } catch (why) {
      setError(why)
      setBusy(false)
    }
  }
  return html`<${Dialog} title=${t('interview.new')} onClose=${onClose} wide>
    <p>${t('interview.form_help')}</p>
    <div class="field"><label for="form-file">${t('interview.form_file')}</label><input id="form-file" type="file" accept=".json,application/json" onChange=${file} /></div>
    <${Field} id="form-text" label=${t('interview.form')} error=${wrong && t('json.wrong') + ' ' + wrong}><textarea id="form-text" class="mono" rows="14" spellcheck="false" value=${text}
      onInput=${event => setText(event.currentTarget.value)}></textarea><//>
    <${ErrorNote} error=${error} />
    <div class="actions end"><${Button} kind="primary" icon="interview" busy=${busy} onClick=${begin}>${t('interview.begin')}<//></div><//>`
}

const shownText = (field, text) => {
  if (!text) return ''
  if (field.type === 'FIELD_TYPE_YES_NO') return t(text === 'true' ? 'yes' : 'no')
  if (field.type === 'FIELD_TYPE_CHOICE') return field.choices?.find(one => one.value === text)?.label || text
  if (field.type === 'FIELD_TYPE_CHOICES') {
    try {
      return JSON.parse(text).map(one => field.choices?.find(choice => choice.value === one)?.label || one).join(', ')
    } catch {
      return text
    }
  }
  return text
}

const fieldLook = { DONE: ['check', 'good'], INTERVIEWING: ['dots', 'live'], REVIEWING: ['wait', 'live'], LEFT_OPEN: ['minus', 'quiet'], NOT_APPLICABLE: ['minus', 'quiet'] }

function ValueInput({ field, id, value, onChange }) {
  const kinds = { FIELD_TYPE_DATE: 'date', FIELD_TYPE_TIME: 'time', FIELD_TYPE_EMAIL: 'email', FIELD_TYPE_PHONE: 'tel', FIELD_TYPE_URL: 'url', FIELD_TYPE_NUMBER: 'text' }
  const choices = field.type === 'FIELD_TYPE_YES_NO' ? [{ value: 'true', label: t('yes') }, { value: 'false', label: t('no') }] : field.choices
  if (field.type === 'FIELD_TYPE_CHOICE' || field.type === 'FIELD_TYPE_YES_NO') return html`<select id=${id} onChange=${event => onChange(event.currentTarget.value)}>
    <option value="" selected=${!value}></option>${choices.map(one => html`<option value=${one.value} selected=${value === one.value}>${one.label || one.value}</option>`)}</select>`
  if (kinds[field.type]) return html`<input id=${id} type=${kinds[field.type]} value=${value} onInput=${event => onChange(event.currentTarget.value)} />`
  return html`<textarea id=${id} rows="2" value=${value} onInput=${event => onChange(event.currentTarget.value)}></textarea>`
}

function FormField({ field, status, current, busy, closed, onEnter, onQuote }) {
  const state = String(status?.state ?? '').replace('FIELD_STATE_', '') || 'PENDING'
  const [editing, setEditing] = useState(false), [text, setText] = useState('')
  const [icon, kind] = fieldLook[state] ?? ['dots', 'quiet']
  const value = status?.value
  const id = 'field-' + field.fieldId
  if (state === 'NOT_APPLICABLE') return null
  return html`<li class=${'form-field ' + kind + (current ? ' current' : '')} data-field=${field.fieldId} data-state=${state}>
    <div class="form-field-head"><span class=${'mark ' + kind} title=${word('field_state', state)}><${Icon} name=${icon} size="13" /></span>
      <span class="form-label" dir="auto">${field.label}${field.required ? html` <span class="faint">${t('required')}</span>` : ''}</span>
      <span class="visually-hidden">${word('field_state', state)}</span>
      ${!closed && !editing && html`<button type="button" class="link" disabled=${busy} onClick=${() => { setText(value?.text ?? ''); setEditing(true) }}>${t(value ? 'change' : 'enter')}</button>`}</div>
    ${!editing && value && html`<p class="form-value" dir="auto">${shownText(field, value.text)}</p>`}
    ${!editing && value?.quote && html`<button type="button" class="form-quote" onClick=${() => onQuote(value.message)} dir="auto"><${Icon} name="quote" size="13" /><q>${value.quote}</q></button>`}
    ${!editing && value && !value.quote && html`<p class="faint">${word('value_origin', value.origin)}</p>`}
    ${state === 'LEFT_OPEN' && html`<p class="faint" dir="auto">${t('interview.left_open')} ${status.openReason}</p>`}
    ${status?.review && !status.review.passed && status.review.feedback && html`<p class="faint" dir="auto">${status.review.feedback}</p>`}
    ${editing && html`<form class="inline-form" onSubmit=${event => { event.preventDefault(); setEditing(false); onEnter(field.fieldId, text) }}>
      <label class="visually-hidden" for=${id}>${field.label}</label><${ValueInput} field=${field} id=${id} value=${text} onChange=${setText} />
      <div class="actions"><button type="submit" class="button small primary">${t('enter')}</button><${Button} kind="small ghost" onClick=${() => setEditing(false)}>${t('close')}<//></div></form>`}
  </li>`
}

export function Interview({ sessionId }) {
  const { value, error, again } = useLoad(() => get('/v1/interviews/' + seg(sessionId)), [sessionId])
  const [state, setState] = useState(null)
  const [text, setText] = useState(draft.get('interview.' + sessionId))
  const [busy, setBusy] = useState(false), [said, setSaid] = useState(''), [writing, setWriting] = useState(''), [agent, setAgent] = useState('')
  const [link, setLink] = useState(''), [failure, setFailure] = useState(null), [lit, setLit] = useState(-1), [deleting, setDeleting] = useState(false)
  const end = useRef(null), input = useRef(null), log = useRef(null)
  const now = state ?? value?.state
  useEffect(() => setState(null), [value])
  useLayoutEffect(() => { log.current?.scrollTo({ top: log.current.scrollHeight, behavior: 'auto' }) }, [now?.revision, said, writing])
  useEffect(() => { // another window or client may answer
    const look = () => document.visibilityState === 'visible' && !busy && again()
    addEventListener('focus', look)
    const stop = onTouched(id => id === sessionId && look())
    return () => {
      removeEventListener('focus', look)
      stop()
    }
  }, [busy])
  if (!now) return html`<${Page} title=${t('interview.title')}>${error ? html`<${ErrorNote} error=${error} onAgain=${again} />` : html`<${Loading} />`}<//>`

  const answer = async fields => {
    setBusy(true)
    setFailure(null)
    setSaid(fields.text ?? '')
    setWriting('')
    setAgent('')
    const body = { requestId: newId(), expectedRevision: now.revision, ...fields }
    const outcome = await readStream(() => ({ path: `/v1/interviews/${seg(sessionId)}:answerStream`, method: 'POST', body }), {
      signal: AbortSignal.timeout(300000), onLink: setLink,
      onEvent: ({ event, data }) => {
        if (event !== 'message') return
        if (data.reply) setState(data.reply.state)
        else if (data.text !== undefined) setWriting(before => before + data.text)
        else if (data.agent) setAgent(data.agent)
      },
    })
    setSaid('')
    setWriting('')
    setBusy(false)
    setLink('')
    const error = outcome.error ?? (outcome.end?.reason === 'aborted' ? { status: 'DEADLINE_EXCEEDED' } : null)
    if (error) {
      setFailure(error)
      if (fields.text) setText(fields.text)
      again()
    } else {
      draft.set('interview.' + sessionId, '')
      touch(sessionId)
    }
    input.current?.focus()
  }
  const send = () => {
    if (!text.trim() || busy) return
    const words = text
    setText('')
    answer({ text: words })
  }
  const confirm = async () => {
    setBusy(true)
    setFailure(null)
    try {
      setState((await post(`/v1/interviews/${seg(sessionId)}:confirm`, { expectedRevision: now.revision })).state)
      touch(sessionId)
    } catch (wrong) {
      setFailure(wrong)
      again()
    }
    setBusy(false)
  }
  const fields = now.form?.fields ?? []
  const order = now.fieldStatuses?.map(one => fields.find(field => field.fieldId === one.fieldId)).filter(Boolean)
  const statuses = new Map(now.fieldStatuses?.map(one => [one.fieldId, one]))
  const currentId = now.plan?.fields?.[now.currentFieldIndex]?.fieldId
  const open = [...statuses.values()].filter(one => !/DONE|NOT_APPLICABLE|LEFT_OPEN/.test(one.state)).length
  const total = [...statuses.values()].filter(one => !/NOT_APPLICABLE/.test(one.state)).length
  const messages = (now.messages ?? []).map((one, i) => ({ ...one, place: i + (now.messagesOmitted ?? 0) })).filter(one => /USER|ASSISTANT/.test(one.role) && one.content)
  const showQuote = place => {
    setLit(place)
    log.current.querySelector(`[data-place="${Number(place)}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const finished = open === 0 && total > 0
  return html`<${Page} wide title=${now.form?.title || t('interview.title')} actions=${html`
      ${now.confirmed ? html`<span class="tag good"><${Icon} name="check" size="14" />${t('interview.confirmed')}</span>` : html`<span class="tag quiet">${t('interview.done_of', { done: total - open, n: total })}</span>`}
      <${Button} kind="ghost" icon="trash" onClick=${() => setDeleting(true)}>${t('delete')}<//>`}>
    <${StatusLine} text=${t('interview.done_of', { done: total - open, n: total })} />
    <div class="interview"><section class="card chat" aria-label=${t('interview.conversation')}>
      <div class="chat-log" ref=${log} tabindex="0" role="log" aria-label=${t('interview.conversation')}>
        ${messages.map(one => html`<div key=${one.place} data-place=${one.place} class=${'bubble ' + (one.role === 'CHAT_ROLE_USER' ? 'mine' : 'theirs') + (lit === one.place ? ' lit' : '')} dir="auto">
          <span class="visually-hidden">${t(one.role === 'CHAT_ROLE_USER' ? 'you' : 'interviewer')}</span>${one.content}</div>`)}
        ${said && html`<div class="bubble mine" dir="auto">${said}</div>`}
        ${busy && html`<div class="bubble theirs" dir="auto">${writing || html`<span class="faint">${agent ? word('interview_agent', agent) : t('interview.thinking')}</span>`}<span class="caret" aria-hidden="true"></span></div>`}
        <div ref=${end}></div></div>
      ${busy && link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.wait')}<//>`}<${ErrorNote} error=${failure} />
      ${now.confirmed ? html`<${Note} kind="good" icon="check">${t('interview.closed')}<//>`
        : html`<form class="chat-input" onSubmit=${event => { event.preventDefault(); send() }}><label class="visually-hidden" for="say">${t('interview.say')}</label>
          <textarea id="say" ref=${input} rows="2" dir="auto" placeholder=${t('interview.say')} value=${text} onKeyDown=${sendKey(send)}
            onInput=${event => { setText(event.currentTarget.value); draft.set('interview.' + sessionId, event.currentTarget.value) }}></textarea>
          <${Button} kind="primary" type="submit" busy=${busy} onClick=${send}>${t('send')}<//></form>`}
    </section>
    <section class="card form-side" aria-label=${t('interview.form')}><header class="card-head"><h2>${t('interview.form')}</h2></header>
      <ul class="form-fields">${(order?.length ? order : fields).map(field => html`<${FormField} key=${field.fieldId} field=${field} status=${statuses.get(field.fieldId)} current=${field.fieldId === currentId}
        busy=${busy} closed=${now.confirmed} onEnter=${(id, given) => answer({ values: { [id]: given } })} onQuote=${showQuote} />`)}</ul>
      ${!now.confirmed && html`<div class="form-foot"><p class="faint">${finished ? t('interview.check') : t('interview.open', { n: open })}</p>
        <${Button} kind="primary" icon="check" busy=${busy} disabled=${!finished || busy} onClick=${confirm}>${t('interview.confirm')}<//></div>`}
    </section></div>
    ${deleting && html`<${Dialog} title=${t('interview.delete')} onClose=${() => setDeleting(false)}><p dir="auto">${t('interview.delete_help')}</p>
      <div class="actions end"><${Button} kind="danger" icon="trash" onClick=${() => remove('/v1/interviews/' + seg(sessionId)).then(() => navigate('/interview'), why => { setDeleting(false); setFailure(why) })}>${t('delete')}<//></div><//>`}
  <//>`
}

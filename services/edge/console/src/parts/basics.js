// Small parts that every page uses.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from '../base/html.js'
import { serverNow } from '../base/clock.js'
import { ago, time, utc } from '../base/format.js'
import { t, word, lang, hasText } from '../base/words.js'
import { onTouched } from '../base/shared_stream.js'
import { Icon } from './icons.js'

export function Button({ icon, children, kind = '', busy, ...rest }) {
  return html`<button type="button" class=${'button ' + kind} aria-busy=${busy ? 'true' : undefined}
    disabled=${busy || undefined} ...${rest}>${icon && html`<${Icon} name=${icon} />`}<span>${children}</span></button>`
}

// The head of a page. The title is also that of the window, and takes the focus when the page is entered.
export function Page({ title, lead, actions, children, wide }) {
  const head = useRef(null)
  useEffect(() => {
    document.title = title + ' · Renga'
  }, [title])
  useEffect(() => {
    if (Page.entered) head.current?.focus({ preventScroll: true })
    Page.entered = true
  }, [])
  return html`<div class=${'page' + (wide ? ' wide' : '')}>
    <header class="page-head"><div><h1 tabindex="-1" ref=${head} dir="auto">${title}</h1>
      ${lead && html`<p class="lead">${lead}</p>`}</div>
      ${actions && html`<div class="actions">${actions}</div>`}</header>
    ${children}</div>`
}
Page.entered = false

export const Card = ({ title, actions, children, kind = '', level = 2, ...rest }) => html`<section class=${'card ' + kind} ...${rest}>
  ${title && html`<header class="card-head">${level === 3 ? html`<h3>${title}</h3>` : html`<h2>${title}</h2>`}
    ${actions && html`<div class="actions">${actions}</div>`}</header>`}
  ${children}</section>`

// What went wrong, in the user's words where the reason is known, with the message of the server as its detail.
export function ErrorNote({ error, onAgain }) {
  if (!error) return null
  const reason = error.reason && hasText('reason.' + error.reason) ? 'reason.' + error.reason : null
  const status = 'status.' + error.status
  const head = reason ? t(reason) : hasText(status) ? t(status) : t('status.UNKNOWN')
  return html`<div class="note bad" role="alert"><${Icon} name="warn" /><div>
    <strong>${head}</strong>
    ${error.message && html`<p dir="auto">${error.message}</p>`}
    ${error.fields?.length > 0 && html`<ul>${error.fields.map(one =>
      html`<li><code>${one.field}</code> <span dir="auto">${one.description}</span></li>`)}</ul>`}
    ${onAgain && html`<${Button} kind="small" icon="again" onClick=${onAgain}>${t('again')}<//>`}
  </div></div>`
}

export const Note = ({ kind = '', icon, children }) => html`<div class=${'note ' + kind}>${icon && html`<${Icon} name=${icon} />`}
  <div>${children}</div></div>`
export const Empty = ({ icon = 'dots', children }) => html`<div class="empty"><${Icon} name=${icon} size="28" /><p>${children}</p></div>`
export const Loading = () => html`<div class="loading" role="status"><span class="spinner"></span>${t('loading')}</div>`

const stateLook = {
  QUEUED: ['wait', 'quiet'], RUNNING: ['play', 'live'], WAITING: ['person', 'wait'], SUCCEEDED: ['check', 'good'],
  FAILED: ['cross', 'bad'], CANCELLED: ['stop', 'quiet'],
}
export const bare = state => String(state ?? '').replace(/^RUN_STATE_/, '')
// The end of a run's work, for all pages alike: a run that waits does not work.
export const workedUntil = (run, now = serverNow()) => Number(run.endedMs) || (bare(run.state) === 'WAITING' ? Number(run.updatedMs) : now)
export function StateTag({ state }) {
  const [icon, kind] = stateLook[bare(state)] ?? ['dots', 'quiet']
  return html`<span class=${'tag ' + kind}><${Icon} name=${icon} size="14" />${word('run_state', state)}</span>`
}

export function Time({ ms, now }) {
  if (!Number(ms)) return html`<span class="faint">–</span>`
  return html`<time datetime=${utc(ms)} title=${time(ms) + '\n' + utc(ms)}>${ago(ms, now)}</time>`
}

// A dialog of the browser: it keeps the focus, Escape closes it, and the focus goes back. A click beside it closes it, but
// not the end of a selection that was begun within it.
export function Dialog({ title, onClose, children, wide }) {
  const box = useRef(null), id = useId(), pressed = useRef(null)
  useLayoutEffect(() => {
    const from = document.activeElement
    box.current.showModal()
    return () => from?.focus?.({ preventScroll: true })
  }, [])
  return html`<dialog ref=${box} class=${wide ? 'wide' : ''} aria-labelledby=${id} onClose=${onClose}
    onPointerDown=${event => { pressed.current = event.target }} onClick=${event => event.target === box.current && pressed.current === box.current && box.current.close()}>
    <div class="dialog-body"><header class="card-head"><h2 id=${id}>${title}</h2>
      <button type="button" class="button ghost square" aria-label=${t('close')} onClick=${() => box.current.close()}>
        <${Icon} name="cross" /></button></header>
    ${children}</div></dialog>`
}

// Tabs that are links or buttons: arrows move among them.
export function Tabs({ label, tabs, value, onChange }) {
  const keys = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const next = tabs[(tabs.findIndex(one => one.id === value) + step + tabs.length) % tabs.length]
    onChange(next.id)
    const row = event.currentTarget
    requestAnimationFrame(() => row.querySelector('[aria-selected=true]')?.focus())
  }
  const row = useRef(null)
  useLayoutEffect(() => { // on a narrow screen the row scrolls
    const chosen = row.current.querySelector('[aria-selected=true]')
    if (chosen && row.current.scrollWidth > row.current.clientWidth) row.current.scrollLeft = chosen.offsetLeft - (row.current.clientWidth - chosen.offsetWidth) / 2
  }, [value])
  return html`<div class="tabs" role="tablist" ref=${row} aria-label=${label} onKeyDown=${keys}>${tabs.map(one => html`
    <button type="button" role="tab" key=${one.id} aria-selected=${one.id === value ? 'true' : 'false'}
      tabindex=${one.id === value ? 0 : -1} onClick=${() => onChange(one.id)}>${one.label}
      ${one.count > 0 && html`<span class="count">${one.count}</span>`}</button>`)}</div>`
}

export function CopyButton({ text, label }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text)
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch { /* refused by the browser */ }
  }
  return html`<${Button} kind="small ghost" icon=${copied ? 'check' : 'copy'} onClick=${copy}>${copied ? t('copied') : label ?? t('copy')}<//>`
}

export function download(name, text, type = 'text/plain') {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(new Blob([text], { type }))
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000)
}

export function Field({ label, help, error, children, id }) {
  return html`<div class=${'field' + (error ? ' wrong' : '')}><label for=${id}>${label}</label>
    ${help && html`<p class="help" id=${id + '-help'} dir="auto">${help}</p>`}
    ${children}
    ${error && html`<p class="error" id=${id + '-error'}>${error}</p>`}</div>`
}

export const Facts = ({ rows }) => html`<dl class="facts">${rows.filter(row => row && row[1] !== null && row[1] !== undefined && row[1] !== '').map(
  ([name, value]) => html`<div key=${name}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>`

// One polite line for screen readers, at most each 5 s.
export function StatusLine({ text }) {
  const [told, setTold] = useState('')
  const last = useRef(0)
  useEffect(() => {
    const timer = setTimeout(() => {
      last.current = Date.now()
      setTold(text)
    }, Math.max(0, last.current + 5000 - Date.now()))
    return () => clearTimeout(timer)
  }, [text])
  return html`<p class="visually-hidden" role="status">${told}</p>`
}

export const isGatewayExtractive = one => String(one.kind).endsWith('_EXTRACTIVE') && one.part === 'extractive' // it has no model to ask

// `title` is the heading's text, which counts the list.
export function Degradations({ list, title = 'degraded' }) {
  if (!list?.length) return null
  const once = new Map() // the same of many nodes is told once
  for (const one of list) {
    const key = [one.kind, one.part, one.reason].join('\0')
    once.set(key, { ...one, times: (once.get(key)?.times ?? 0) + 1 })
  }
  const rows = [...once.values()]
  if (rows.every(isGatewayExtractive)) return html`<${Note}><p dir="auto">${rows[0].reason}</p><//>`
  const told = one => html`<li dir="auto"><b>${word('degradation_kind', one.kind)}</b>${isGatewayExtractive(one) ? ': ' : ` ${one.part} – `}${one.reason}${one.times > 1 ? ` (× ${one.times})` : ''}</li>`
  return html`<div class="note warn"><${Icon} name="warn" /><div><strong>${t(title, { n: list.length })}</strong>
    <ul>${rows.slice(0, 6).map(told)}</ul>
    ${rows.length > 6 && html`<details><summary>${t('show')}</summary><ul>${rows.slice(6).map(told)}</ul></details>`}</div></div>`
}

// Loads with `load` when one of `needs` changes; a later load wins over an earlier one. What was loaded stays in sight
// until the next is there, but for another subject, which is needs[0].
export function useLoad(load, needs) {
  const [held, setHeld] = useState({ value: null, error: null, busy: true })
  const turn = useRef(0)
  const again = async () => {
    const own = ++turn.current
    setHeld(before => ({ ...before, busy: true }))
    try {
      const value = await load()
      if (own === turn.current) setHeld({ value, error: null, busy: false })
    } catch (error) {
      if (own === turn.current) setHeld(before => ({ value: before.value, error, busy: false }))
    }
  }
  const subject = useRef(needs[0])
  useEffect(() => {
    if (subject.current !== needs[0]) setHeld({ value: null, error: null, busy: true })
    subject.current = needs[0]
    again()
    return () => { turn.current++ }
  }, needs)
  return { ...held, again }
}

// Reads again each few seconds as long as `active`, and at once when a user changed a run or comes back to the page.
export function useFresh(again, active, everyMs = 4000) {
  const latest = useRef(again)
  latest.current = again
  useEffect(() => {
    const look = () => document.visibilityState === 'visible' && latest.current()
    const timer = active ? setInterval(look, everyMs) : 0
    const stop = onTouched(look)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      stop()
      document.removeEventListener('visibilitychange', look)
    }
  }, [active, everyMs])
}

export const inJapanese = () => lang.value === 'ja'

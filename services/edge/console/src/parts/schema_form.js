// A form from a JSON Schema. A part of a schema that has no control of its own is written as JSON; the server checks.
import { parseExact } from '../base/api.js'
import { html, useId, useState } from '../base/html.js'
import { t } from '../base/words.js'
import { Button, Field } from './basics.js'

const typeOf = schema => (Array.isArray(schema?.type) ? schema.type.find(one => one !== 'null') : schema?.type)
const choicesOf = schema => schema?.enum?.map(value => ({ value, label: String(value) }))
  ?? (schema?.oneOf?.every(one => 'const' in one) ? schema.oneOf.map(one => ({ value: one.const, label: one.title ?? String(one.const) })) : null)

export function initialOf(schema) {
  if (!schema || typeof schema !== 'object') return undefined
  if ('default' in schema) return schema.default
  if ('const' in schema) return schema.const
  if (typeOf(schema) !== 'object') return undefined
  const value = {}
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    const initial = initialOf(one)
    if (initial !== undefined) value[name] = initial
  }
  return value
}

export function JsonText({ id, value, onChange, rows = 4, described, label }) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [wrong, setWrong] = useState('')
  const change = typed => {
    setText(typed)
    if (!typed.trim()) {
      setWrong('')
      return onChange(undefined, true)
    }
    try {
      onChange(parseExact(typed), true)
      setWrong('')
    } catch (error) {
      setWrong(error.message)
      onChange(undefined, false)
    }
  }
  return html`<textarea id=${id} class="mono" spellcheck="false" rows=${Math.min(18, Math.max(rows, text.split('\n').length))} value=${text}
    aria-label=${label} aria-invalid=${wrong ? 'true' : undefined} aria-describedby=${described} onInput=${event => change(event.currentTarget.value)}></textarea>
    ${wrong && html`<p class="error">${t('json.wrong')} ${wrong}</p>`}`
}

function Control({ id, schema, value, onChange, required }) {
  const type = typeOf(schema), choices = choicesOf(schema)
  const common = { id, 'aria-describedby': schema?.description ? id + '-help' : undefined, required }
  if (choices && choices.length <= 4) return html`<div class="choices" role="radiogroup" aria-labelledby=${id + '-legend'}>${choices.map(one => html`
    <label class="choice"><input type="radio" name=${id} checked=${value === one.value} onChange=${() => onChange(one.value)} /> <span dir="auto">${one.label}</span></label>`)}</div>`
  if (choices) return html`<select ...${common} onChange=${event => onChange(choices[event.currentTarget.selectedIndex - 1]?.value)}>
    <option></option>${choices.map(one => html`<option selected=${value === one.value}>${one.label}</option>`)}</select>`
  if (type === 'boolean') return html`<div class="choices" role="radiogroup" aria-labelledby=${id + '-legend'}>${[[true, 'yes'], [false, 'no']].map(([one, word]) => html`
    <label class="choice"><input type="radio" name=${id} checked=${value === one} onChange=${() => onChange(one)} /> ${t(word)}</label>`)}</div>`
  if (type === 'integer' || type === 'number') return html`<input ...${common} type="number" step=${type === 'integer' ? 1 : 'any'} min=${schema.minimum} max=${schema.maximum}
    value=${value ?? ''} onInput=${event => onChange(event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value))} />`
  if (type === 'string') {
    const kinds = { date: 'date', time: 'time', email: 'email', uri: 'url' }
    const input = event => onChange(event.currentTarget.value === '' && !required ? undefined : event.currentTarget.value)
    if (kinds[schema.format] || (schema.maxLength && schema.maxLength <= 80)) return html`<input ...${common} type=${kinds[schema.format] ?? 'text'} value=${value ?? ''} onInput=${input} />`
    return html`<textarea ...${common} rows="2" value=${value ?? ''} onInput=${input}></textarea>`
  }
  if (type === 'array' && typeOf(schema.items) === 'string' && !choicesOf(schema.items)) return html`<textarea ...${common} rows="3" placeholder=${t('schema.lines')}
    value=${(value ?? []).join('\n')} onInput=${event => onChange(event.currentTarget.value.split('\n').filter(line => line.trim()))}></textarea>`
  return html`<${JsonText} id=${id} value=${value} onChange=${onChange} described=${common['aria-describedby']} />`
}

export function SchemaForm({ schema, value, onChange, depth = 0 }) {
  const id = useId()
  if (typeOf(schema) !== 'object' || !schema.properties) {
    const radios = choicesOf(schema)?.length <= 4 || typeOf(schema) === 'boolean'
    return html`<div class="field">${radios ? html`<span class="label" id=${id + '-legend'}>${schema?.title ?? t('answer')}</span>` : html`<label for=${id}>${schema?.title ?? t('answer')}</label>`}
      ${schema?.description && html`<p class="help" id=${id + '-help'}>${schema.description}</p>`}
      <${Control} id=${id} schema=${schema} value=${value} onChange=${onChange} required /></div>`
  }
  const set = name => changed => {
    const next = { ...(value ?? {}) }
    if (changed === undefined) delete next[name]
    else next[name] = changed
    onChange(next)
  }
  const fields = Object.entries(schema.properties).map(([name, one]) => {
    const own = id + '-' + name, required = schema.required?.includes(name)
    const label = html`<span dir="auto">${one.title ?? name}</span>${required && html` <span class="faint">${t('required')}</span>`}`
    if (typeOf(one) === 'object' && one.properties && depth < 4) return html`<fieldset key=${name}><legend>${label}</legend>
      ${one.description && html`<p class="help">${one.description}</p>`}<${SchemaForm} schema=${one} value=${value?.[name]} onChange=${set(name)} depth=${depth + 1} /></fieldset>`
    const radios = choicesOf(one)?.length <= 4 || typeOf(one) === 'boolean'
    return html`<div class="field" key=${name}>${radios ? html`<span class="label" id=${own + '-legend'}>${label}</span>` : html`<label for=${own}>${label}</label>`}
      ${one.description && html`<p class="help" id=${own + '-help'} dir="auto">${one.description}</p>`}
      <${Control} id=${own} schema=${one} value=${value?.[name]} onChange=${set(name)} required=${required} /></div>`
  })
  return html`<div class="schema-form">${fields}</div>`
}

// An answer of any shape: by a form if there is a schema, else as JSON. Both show the same value.
export function AnswerEditor({ schema, value, onChange }) {
  const usable = schema && Object.keys(schema).length > 0
  const [raw, setRaw] = useState(!usable)
  return html`<div>${raw
    ? html`<${Field} id="answer-json" label=${t('answer.json')}><${JsonText} id="answer-json" value=${value} onChange=${onChange} /><//>`
    : html`<${SchemaForm} schema=${schema} value=${value} onChange=${onChange} />`}
    ${usable && html`<${Button} kind="small ghost" onClick=${() => setRaw(!raw)}>${t(raw ? 'answer.as_form' : 'answer.as_json')}<//>`}</div>`
}

// JSON as a tree that opens. Long texts and lists are cut in sight, and can be taken as a file.
import { fileName } from '../base/file_name.js'
import { rawNumber } from '../base/api.js'
import { html, useState } from '../base/html.js'
import { t } from '../base/words.js'
import { bytes, count } from '../base/format.js'
import { Button, CopyButton, download } from './basics.js'

const TEXT_MAX = 2000, ITEMS_MAX = 100

function Leaf({ value }) {
  const [whole, setWhole] = useState(false)
  if (typeof value !== 'string') return html`<span class=${'json-' + (value === null ? 'null' : typeof value)}>${String(value)}</span>`
  const long = value.length > TEXT_MAX && !whole
  return html`<span class="json-string" dir="auto">${long ? value.slice(0, TEXT_MAX) + '…' : value || '""'}</span>
    ${long && html` <button type="button" class="link" onClick=${() => setWhole(true)}>${t('json.whole', { size: bytes(value.length) })}</button>`}`
}

function Branch({ name, value, open, depth }) {
  const [more, setMore] = useState(ITEMS_MAX)
  const [shown, setShown] = useState(open)
  const list = Array.isArray(value)
  const keys = list ? value.map((_, i) => i) : Object.keys(value)
  return html`<details open=${open} onToggle=${event => setShown(event.currentTarget.open)}>
    <summary>${name !== undefined && html`<span class="json-key">${name}</span>`}
      <span class="faint">${t(list ? 'json.items' : 'json.fields', { n: keys.length, count: count(keys.length) })}</span></summary>
    ${shown && html`<ul class="json">${keys.slice(0, more).map(key => html`<li key=${key}><${JsonNode} name=${key} value=${value[key]} depth=${depth + 1} /></li>`)}
      ${keys.length > more && html`<li><button type="button" class="link" onClick=${() => setMore(more + 500)}>${t('json.more', { n: count(keys.length - more) })}</button></li>`}</ul>`}
  </details>`
}

function JsonNode({ name, value, depth = 0, open }) {
  const number = rawNumber(value)
  if (number) return html`<div class="json-line">${name !== undefined && html`<span class="json-key">${name}</span>`}<span class="json-number">${number}</span></div>`
  if (value !== null && typeof value === 'object' && Object.keys(value).length)
    return html`<${Branch} name=${name} value=${value} depth=${depth} open=${open ?? (depth < 1 && Object.keys(value).length <= 12)} />`
  return html`<div class="json-line">${name !== undefined && html`<span class="json-key">${name}</span>`}
    ${value !== null && typeof value === 'object' ? html`<span class="faint">${Array.isArray(value) ? '[]' : '{}'}</span>` : html`<${Leaf} value=${value} />`}</div>`
}

export function JsonView({ value, name, tools = true, open }) {
  const text = () => JSON.stringify(value, null, 2)
  return html`<div class="json-view">${tools && html`<div class="json-tools"><${CopyButton} text=${text} />
    <${Button} kind="small ghost" onClick=${() => download(fileName(name ?? 'value', '.json'), text(), 'application/json')}>${t('download')}<//></div>`}
    <${JsonNode} value=${value} open=${open ?? true} /></div>`
}

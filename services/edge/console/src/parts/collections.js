// Which collections of documents to look in.
import { get } from '../base/api.js'
import { html } from '../base/html.js'
import { t } from '../base/words.js'
import { count } from '../base/format.js'
import { useLoad } from './basics.js'

export function CollectionPicker({ value, onChange }) {
  const { value: base } = useLoad(() => get('/v1/knowledgeBase'), [])
  const all = base?.collections ?? []
  if (!base) return null
  if (!all.length) return html`<p class="faint">${t('collections.none')} <a href="/documents">${t('nav.documents')}</a></p>`
  const toggle = name => onChange(value.includes(name) ? value.filter(one => one !== name) : [...value, name])
  return html`<fieldset class="chips"><legend>${t('collections.in')}</legend>
    <label class=${'chip' + (value.length ? '' : ' on')}><input type="checkbox" checked=${!value.length} onChange=${() => onChange([])} />${t('collections.all')}</label>
    ${all.slice(0, 40).map(one => html`<label key=${one.name} class=${'chip' + (value.includes(one.name) ? ' on' : '')}>
      <input type="checkbox" checked=${value.includes(one.name)} onChange=${() => toggle(one.name)} />${one.name} <span class="faint">${count(one.documents)}</span></label>`)}</fieldset>`
}

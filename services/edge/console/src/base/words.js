// Texts by their id, in the language of the user. A text with forms for numbers is an object {one, other}.
import { signal } from './html.js'
import { en } from '../words/en.js'
import { ja } from '../words/ja.js'
import { keep, kept } from './kept.js'

const catalogues = { en, ja }

function preferred() {
  const chosen = kept('lang')
  if (chosen in catalogues) return chosen
  return navigator.languages?.some(tag => tag.startsWith('ja')) && !navigator.languages[0]?.startsWith('en') ? 'ja' : 'en'
}

export const lang = signal(preferred())

export function setLang(name) {
  lang.value = name
  keep('lang', name)
}

export function t(id, params) {
  let text = catalogues[lang.value][id] ?? en[id]
  if (text === undefined) return id
  if (typeof text === 'object') text = text[new Intl.PluralRules(lang.value).select(Number(params?.n ?? 0))] ?? text.other
  return params ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in params ? params[name] : whole)) : text
}

// The text of an enum's value: 'RUN_STATE_RUNNING' with 'run_state' is the text 'run_state.RUNNING', else the bare name.
export function word(group, value) {
  const name = String(value ?? '').replace(new RegExp('^' + group.toUpperCase() + '_'), '')
  const id = group + '.' + name
  const text = t(id)
  return text === id ? name.toLowerCase().replaceAll('_', ' ') : text
}

export const hasText = id => id in en

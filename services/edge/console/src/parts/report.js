// A report in Markdown: its footnotes lead to the quotes and back, and it can be taken along.
import { fileName } from '../base/file_name.js'
import { html, useMemo } from '../base/html.js'
import { t } from '../base/words.js'
import { Button, CopyButton, download } from './basics.js'
import { Markdown, splitFootnotes } from './markdown.js'
import { sourcesOf } from './answer.js'

export function Report({ text, citations, name, writing }) {
  const { body, notes } = useMemo(() => splitFootnotes(text), [text])
  const names = useMemo(() => new Set(notes.length ? notes.map(note => note.name) : (citations ?? []).map(one => String(one.referenceNumber)).filter(Number)), [notes, citations])
  const quotes = useMemo(() => {
    const byReference = new Map()
    for (const one of citations ?? []) {
      const key = String(one.referenceNumber || '')
      if (!byReference.has(key)) byReference.set(key, [])
      if (!byReference.get(key).some(other => other.quote === one.quote)) byReference.get(key).push(one)
    }
    return byReference
  }, [citations])
  const sources = useMemo(() => (notes.length ? [] : sourcesOf(citations).map(one => ({ ...one, name: String(citations.find(other => other.uri === one.uri)?.referenceNumber || '') }))), [citations, notes])
  return html`<article class="report">
    ${!writing && html`<div class="actions end"><${CopyButton} text=${text} label=${t('report.copy')} />
      <${Button} kind="small" icon="down" onClick=${() => download(fileName(name || 'report', '.md'), text, 'text/markdown')}>${t('report.export')}<//></div>`}
    <${Markdown} text=${body} names=${names} prefix="report" kind="report-body" />${writing && html`<span class="caret" aria-hidden="true"></span>`}
    ${notes.length > 0 && html`<section class="footnotes" aria-label=${t('sources')}><h2>${t('sources')}</h2><ol>${notes.map(note => html`<li key=${note.name} id=${'report-note-' + note.name} value=${/^\d+$/.test(note.name) ? note.name : undefined}>
      <${Markdown} text=${note.text} kind="inline" />
      ${quotes.get(note.name)?.slice(0, 8).map(one => html`<blockquote dir="auto">${one.quote}<footer>${[one.headingPath?.join(' › '), one.lineFrom ? `${one.uri}:${one.lineFrom}` : ''].filter(Boolean).join(' · ')}</footer></blockquote>`)}
      <a class="back" href=${'#report-ref-' + note.name} aria-label=${t('report.back', { n: note.name })}>↩</a></li>`)}</ol></section>`}
    ${sources.length > 0 && html`<section class="footnotes" aria-label=${t('sources')}><h2>${t('sources')}</h2><ol>${sources.map(one => html`<li key=${one.uri} id=${one.name ? 'report-note-' + one.name : undefined} value=${one.name || undefined}><strong dir="auto">${one.title || one.uri}</strong> <span class="faint">${one.uri}</span>
      ${one.quotes.slice(0, 6).map(quote => html`<blockquote dir="auto">${quote.text}<footer>${quote.place}</footer></blockquote>`)}</li>`)}</ol></section>`}
  </article>`
}

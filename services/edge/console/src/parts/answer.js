// A text whose sentences open their sources, and the list of these sources with their quotes.
import { html, useId, useMemo, useRef, useState } from '../base/html.js'
import { t } from '../base/words.js'
import { Icon } from './icons.js'

const placeOf = one => [one.uri, one.lineFrom ? (one.lineTo && one.lineTo !== one.lineFrom ? `${one.lineFrom}–${one.lineTo}` : one.lineFrom) : ''].filter(Boolean).join(':')
const isWeb = uri => /^https?:\/\//i.test(uri)

// [{number, uri, title, headingPath, quotes: [{text, place, sentences}]}] in the order of the text.
export function sourcesOf(citations) {
  const byUri = new Map()
  for (const one of citations ?? []) {
    if (!byUri.has(one.uri)) byUri.set(one.uri, { number: byUri.size + 1, uri: one.uri, title: one.title, quotes: [] })
    const source = byUri.get(one.uri)
    const place = placeOf(one)
    let quote = source.quotes.find(other => other.text === one.quote && other.place === place)
    if (!quote) source.quotes.push(quote = { text: one.quote, place, headings: one.headingPath ?? [], sentences: [] })
    quote.sentences.push(one.sentenceNumber)
  }
  return [...byUri.values()]
}

// The text in pieces: {text, number} for sentences with a source, {text} for what stands between them.
export function piecesOf(text, citations) {
  const sentences = new Map()
  for (const one of citations ?? []) if (one.sentence && !sentences.has(one.sentenceNumber)) sentences.set(one.sentenceNumber, one.sentence)
  const pieces = []
  let at = 0
  for (const [number, sentence] of [...sentences].sort((a, b) => a[0] - b[0])) {
    const found = text.indexOf(sentence, at)
    if (found < 0) continue
    if (found > at) pieces.push({ text: text.slice(at, found) })
    pieces.push({ text: sentence, number })
    at = found + sentence.length
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

export function Sources({ sources, chosen, id, title }) {
  return html`<aside class="sources" aria-label=${t('sources')}><h3>${title ?? t('sources')}</h3>
    <ol>${sources.map(source => html`<li key=${source.uri} id=${`${id}-source-${source.number}`} class=${source.quotes.some(quote => quote.sentences.includes(chosen)) ? 'chosen' : ''}>
      <details open=${source.quotes.some(quote => quote.sentences.includes(chosen)) || undefined}><summary><span class="source-number">${source.number}</span>
        <span class="source-title" dir="auto">${source.title || source.uri}</span></summary>
      ${isWeb(source.uri) ? html`<a class="source-uri" href=${source.uri} target="_blank" rel="noopener noreferrer nofollow">${source.uri}</a>` : html`<p class="source-uri">${source.uri}</p>`}
      ${source.quotes.map(quote => html`<figure key=${quote.place + quote.text} class=${quote.sentences.includes(chosen) ? 'chosen' : ''}>
        <blockquote dir="auto">${quote.text}</blockquote>
        <figcaption>${[quote.headings.join(' › '), quote.place].filter(Boolean).join(' · ')}</figcaption></figure>`)}</details></li>`)}</ol></aside>`
}

// Code in backticks, as models and documents write it.
const coded = text => text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 ? html`<code key=${i}>${part}</code>` : part))

export function CitedText({ text, citations }) {
  const [chosen, setChosen] = useState(0)
  const id = useId(), box = useRef(null)
  const sources = useMemo(() => sourcesOf(citations), [citations])
  const pieces = useMemo(() => piecesOf(text ?? '', citations), [text, citations])
  const numbers = number => sources.filter(source => source.quotes.some(quote => quote.sentences.includes(number))).map(source => source.number)
  const choose = number => {
    const next = number === chosen ? 0 : number
    setChosen(next)
    if (next) requestAnimationFrame(() => box.current.querySelector('.sources figure.chosen')?.scrollIntoView({ block: 'nearest' }))
  }
  const keyed = (event, number) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    choose(number)
  }
  // A <button> is a box of its own: a long sentence would leave the "- " before it alone on a line.
  return html`<div class=${'cited' + (sources.length ? '' : ' alone')} ref=${box}>
    <div class="answer-text" dir="auto">${pieces.map((piece, i) => (piece.number
      ? html`<span role="button" tabindex="0" key=${i} class=${'sentence' + (piece.number === chosen ? ' chosen' : '')} aria-expanded=${piece.number === chosen ? 'true' : 'false'}
          onClick=${() => choose(piece.number)} onKeyDown=${event => keyed(event, piece.number)}>${coded(piece.text)}<sup>${numbers(piece.number).join(' ')}</sup></span>`
      : html`<span key=${i}>${coded(piece.text)}</span>`))}</div>
    ${sources.length > 0 && html`<${Sources} sources=${sources} chosen=${chosen} id=${id} />`}
  </div>`
}

export const Quote = ({ hit }) => html`<li class="hit"><p class="hit-head"><${Icon} name="file" size="15" /><strong dir="auto">${hit.title || hit.uri}</strong>
  <span class="faint">${[hit.collection, placeOf(hit)].filter(Boolean).join(' / ')}</span></p>
  ${hit.headingPath?.length > 0 && html`<p class="faint" dir="auto">${hit.headingPath.join(' › ')}</p>`}
  <blockquote dir="auto"><${Marked} text=${hit.snippet || hit.quote} quote=${hit.quote} /></blockquote></li>`

function Marked({ text, quote }) {
  const at = quote ? text.indexOf(quote) : -1
  const short = text.length > 600 ? text.slice(Math.max(0, at - 200), Math.max(0, at - 200) + 600) : text
  const place = quote ? short.indexOf(quote) : -1
  if (place < 0) return short
  return html`${short.slice(0, place)}<mark>${quote}</mark>${short.slice(place + quote.length)}`
}

// Markdown from models, which is hostile until it is shown otherwise: raw HTML is escaped, the result is sanitised into
// a fragment, and the policy of the page is the third wall.
import { DOMPurify, html, Marked, useLayoutEffect, useRef } from '../base/html.js'

const escape = text => text.replace(/[&<>"']/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c])
const marked = new Marked({ gfm: true, renderer: { html: ({ text }) => escape(text), image: ({ text, href }) => escape(`[${text || href}]`) } })
const RULES = {
  RETURN_DOM_FRAGMENT: true, FORBID_ATTR: ['style', 'id', 'name', 'class', 'srcset', 'target'],
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'img', 'svg', 'math', 'video', 'audio', 'iframe'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#)/i,
}

// Footnotes of reports: [^1] or [1] in the text, and "[^1]: text" at the beginning of a line as its note.
const NOTE = /^\[\^([\w-]{1,32})\]:[ \t]*(.*)$/
export function splitFootnotes(text) {
  const notes = [], lines = []
  let fenced = false
  for (const line of String(text ?? '').split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
    const found = !fenced && line.match(NOTE)
    if (found) notes.push({ name: found[1], text: found[2] })
    else lines.push(line)
  }
  return { body: lines.join('\n'), notes }
}

function linkMarks(fragment, prefix, names) {
  const linked = new Set()
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT)
  const texts = []
  while (walker.nextNode()) if (/\[\^?[\w-]+\]/.test(walker.currentNode.data) && !walker.currentNode.parentElement?.closest('code,pre')) texts.push(walker.currentNode)
  for (const node of texts) {
    const pieces = node.data.split(/(\[\^?[\w-]+\])/)
    const made = pieces.filter(Boolean).map(piece => {
      const name = piece.match(/^\[\^?([\w-]+)\]$/)?.[1]
      if (!name || !names.has(name)) return document.createTextNode(piece)
      const sup = document.createElement('sup'), anchor = document.createElement('a')
      anchor.textContent = name
      anchor.href = `#${prefix}-note-${name}`
      const first = `${prefix}-ref-${name}`
      if (!linked.has(name)) anchor.id = first
      linked.add(name)
      anchor.dataset.ref = name
      sup.append(anchor)
      return sup
    })
    node.replaceWith(...made)
  }
}

// The parser takes time by the square of the length of a word, and a call for each level of a quote or list: such a text,
// which nobody writes for a reader, is shown as it is.
const TEXT_MAX = 400000, WORD_MAX = 3000, DEEP = /^[ \t>]{200}|^(?:[ \t]*(?:[-*+>]|\d+[.)])){50}/m
const isHostile = text => text.length > TEXT_MAX || DEEP.test(text) || text.split(/\s+/).some(word => word.length > WORD_MAX)
function plain(text) {
  const box = document.createElement('p')
  box.className = 'plain'
  box.textContent = text
  return box
}

function parsed(text) {
  if (isHostile(text)) return plain(text)
  try {
    return DOMPurify.sanitize(marked.parse(text), RULES)
  } catch {
    return plain(text)
  }
}

function render(text, prefix, names) {
  const fragment = parsed(String(text ?? ''))
  if (names?.size) linkMarks(fragment, prefix, names)
  for (const anchor of fragment.querySelectorAll('a[href]')) {
    if (anchor.getAttribute('href').startsWith('#')) continue
    anchor.rel = 'noopener noreferrer nofollow'
    anchor.target = '_blank'
  }
  for (const table of fragment.querySelectorAll('table')) {
    const box = document.createElement('div')
    box.className = 'scroll'
    box.tabIndex = 0
    box.setAttribute('role', 'region')
    box.setAttribute('aria-label', table.querySelector('th')?.textContent || 'table')
    table.replaceWith(box)
    box.append(table)
  }
  return fragment
}

export function Markdown({ text, prefix = 'md', names, kind = '' }) {
  const box = useRef(null), latest = useRef(null), took = useRef(0), due = useRef(0)
  latest.current = () => {
    const begun = performance.now()
    due.current = 0
    box.current?.replaceChildren(render(text, prefix, names))
    took.current = performance.now() - begun
  }
  useLayoutEffect(() => { // a long text that is being written is drawn as often as leaves time for other work
    if (took.current < 20) latest.current()
    else due.current ||= setTimeout(() => latest.current(), Math.min(3000, 5 * took.current))
  }, [text, prefix, names])
  useLayoutEffect(() => () => clearTimeout(due.current), [])
  return html`<div ref=${box} dir="auto" class=${'prose ' + kind}></div>`
}

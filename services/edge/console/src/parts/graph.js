// The graph of an agent, drawn; with a run its nodes show how far they are. Equivalent to the table beside it.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../base/html.js'
import { t } from '../base/words.js'
import { count, duration } from '../base/format.js'
import { stateOf } from '../base/run_model.js'
import { pathOf } from './layout.js'
import { iconPath } from './icons.js'
import { Button } from './basics.js'
import { openAtFirst, sceneOf } from './scene.js'

const MARGIN = 14, OPENING_MS = 1500 // in which the history of a run comes
const stateIcon = { running: 'play', waiting: 'person', failed: 'cross', done: 'check', ended: 'stop' }

export function countsText(stat) {
  if (!stat?.started && !stat?.waiting) return t('node.idle')
  const parts = []
  for (const name of ['running', 'waiting', 'done', 'failed', 'retried']) if (stat[name]) parts.push(t('node.' + name, { n: stat[name], count: count(stat[name]) }))
  return parts.join(' · ') || t('node.ended')
}

function labelText(box, stat) {
  if (!stat?.started && !stat?.waiting) return box.node.kind ?? ''
  if (stat.started > 1 || stat.failed) return [stat.done && `✓ ${count(stat.done)}`, stat.running && `▸ ${count(stat.running)}`, stat.failed && `✕ ${count(stat.failed)}`, stat.retried && `↻ ${count(stat.retried)}`].filter(Boolean).join('  ')
  if (stat.running) return t('node.running', { n: 1, count: '' }).trim()
  return stat.waiting ? t('node.waits') : stat.cached ? t('node.cached') : duration(stat.ms)
}

// A text that fits into `width`; `size` is the width of a usual letter, and of a Japanese one twice as much.
function cut(text, width, size) {
  let used = 0
  for (let i = 0; i < text.length; i++) {
    used += text.charCodeAt(i) > 0x2e80 ? 1.7 * size : size
    if (used > width) return text.slice(0, Math.max(1, i - 1)) + '…'
  }
  return text
}

function Box({ box, model, chosen, onChoose, onToggle, marked }) {
  const stat = model?.stats.get(box.key)
  const state = stateOf(stat)
  const { width, height } = box
  const left = box.x - width / 2, top = box.y - height / 2
  const keys = event => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      onChoose?.(box.key)
    }
  }
  const icon = stateIcon[state]
  return html`<g transform=${`translate(${left} ${top})`}><g class=${`box ${state}${box.inner ? ' holder' : ''}${chosen === box.key ? ' chosen' : ''}${marked?.has(box.key) ? ' marked' : ''}`}
      role="button" tabindex="0" aria-label=${`${box.key}: ${countsText(stat)}`} aria-pressed=${chosen === box.key ? 'true' : 'false'} data-node=${box.key} data-state=${state}
      onClick=${event => { event.stopPropagation(); onChoose?.(box.key) }} onKeyDown=${event => event.target === event.currentTarget && keys(event)}>
    <title>${box.key}</title>
    <rect width=${width} height=${height} rx="9" class="frame" />
    ${!box.inner && html`<circle cx="17" cy=${height / 2} r="8.5" class="dot" />`}
    ${box.inner && html`<circle cx="17" cy="18" r="8.5" class="dot" />`}
    ${icon && html`<path class="dot-icon" transform=${`translate(${17 - 6} ${(box.inner ? 18 : height / 2) - 6}) scale(0.6)`} d=${iconPath(icon)} />`}
    <text class="name" x="33" y=${box.inner ? 16 : 18}>${cut(box.id, width - 44 - (box.holds ? 14 : 0), 7.6)}</text>
    <text class="sub" x="33" y=${box.inner ? 30 : 33}>${cut(labelText(box, stat), width - 40, 6.2)}</text>
    </g>${box.holds && html`<g class="fold" role="button" tabindex="0" aria-label=${t(box.inner ? 'graph.close' : 'graph.open', { name: box.id })} aria-expanded=${box.inner ? 'true' : 'false'}
        transform=${`translate(${width - 25} ${box.inner ? 6 : 3})`} onClick=${event => { event.stopPropagation(); onToggle(box.key) }}
        onKeyDown=${event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); event.stopPropagation(); onToggle(box.key) } }}>
        <rect width="24" height="24" fill="transparent" /><path transform="translate(4 4) scale(0.8)" d=${iconPath(box.inner ? 'minus' : 'plus')} /></g>`}
  </g>`
}

function Line({ line, model, prefix }) {
  const from = model?.stats.get(prefix + line.arrow.from)
  const taken = line.arrow.labels.length ? line.arrow.labels.some(label => from?.outcomes.has(label)) : line.arrow.from === '\0start' ? model?.spans.length > 0 : from?.done > 0
  const [a, b] = line.points
  const label = line.arrow.labels.join(', ')
  const text = label.length > 22 ? label.slice(0, 21) + '…' : label
  return html`<g class=${'line' + (taken ? ' taken' : '') + (line.back ? ' back' : '')}><path d=${pathOf(line)} marker-end=${taken ? 'url(#arrow-taken)' : 'url(#arrow)'} />
    ${text && html`<text x=${line.back ? b.x - 4 : a.x + (b.x - a.x) * 0.68} y=${line.back ? (line.points[1].y + line.points[2].y) / 2 : a.y + (b.y - a.y) * 0.59 + 3} text-anchor=${line.back ? 'end' : 'middle'}><title>${label}</title>${text}</text>`}</g>`
}

function Scene({ scene, ...rest }) {
  return html`<g>
    ${scene.lines.map((line, i) => html`<${Line} key=${i} line=${line} model=${rest.model} prefix=${scene.prefix} />`)}
    ${scene.start && html`<circle class="terminal" cx=${scene.start.x} cy=${scene.start.y} r="5.5" />`}
    ${scene.end && html`<g class="terminal end"><circle cx=${scene.end.x} cy=${scene.end.y} r="6.5" /><circle cx=${scene.end.x} cy=${scene.end.y} r="3" /></g>`}
    ${scene.boxes.map(box => html`<g key=${box.key}><${Box} box=${box} ...${rest} />
      ${box.inner && html`<g transform=${`translate(${box.x - box.inner.width / 2} ${box.y - box.height / 2 + 40})`}><${Scene} scene=${box.inner} ...${rest} /></g>`}</g>`)}
  </g>`
}

// documents: of documentsOf. model: a RunModel or null. chosen, onChoose: key of the node that is looked at.
export function Graph({ documents, model, chosen, onChoose, marked, label }) {
  model?.version.value
  const [open, setOpen] = useState(() => openAtFirst(documents))
  const [zoom, setZoom] = useState(0)
  const box = useRef(null)
  const [room, setRoom] = useState(800)
  const scene = useMemo(() => sceneOf(documents, open), [documents, open])
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => box.current && setRoom(box.current.clientWidth))
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => { // a graph wider than its box is seen from its start
    const { scrollWidth, clientWidth } = box.current
    if (scrollWidth > clientWidth && scene.start) box.current.scrollLeft = (scene.start.x + MARGIN) / (scene.width + 2 * MARGIN) * scrollWidth - clientWidth / 2
  }, [scene, room])
  const busiest = chosen || (model ? [...model.stats].filter(([, stat]) => ['waiting', 'running', 'failed'].includes(stateOf(stat))).map(([key]) => key).at(-1) : '')
  const shown = useRef(''), begun = useRef(performance.now())
  useLayoutEffect(() => { // the node that is looked at, or else the one at work when the page opens, comes into sight
    if (!busiest || (shown.current && busiest !== chosen && performance.now() - begun.current > OPENING_MS)) return
    shown.current = busiest
    const seen = box.current.getBoundingClientRect(), node = box.current.querySelector(`[data-node="${CSS.escape(busiest)}"]`)?.getBoundingClientRect()
    if (!node) return
    if (node.top < seen.top || node.bottom > seen.bottom) box.current.scrollTop += node.top - seen.top - Math.max(MARGIN, (seen.height - node.height) / 2)
    if (node.left < seen.left || node.right > seen.right) box.current.scrollLeft += node.left - seen.left - Math.max(MARGIN, (seen.width - node.width) / 2)
  }, [busiest, chosen, room])
  const width = scene.width + 2 * MARGIN, height = scene.height + 2 * MARGIN
  const fit = Math.min(1, Math.max(0.8, (room - 4) / width))
  const scale = zoom || fit
  const toggle = key => {
    const next = new Set(open)
    if (!next.delete(key)) next.add(key)
    setOpen(next)
  }
  return html`<div class="graph"><div class="graph-tools" role="toolbar" aria-label=${t('graph.tools')}>
      <${Button} kind="square ghost" aria-label=${t('graph.smaller')} icon="minus" onClick=${() => setZoom(Math.max(0.2, scale / 1.25))} />
      <${Button} kind="square ghost" aria-label=${t('graph.larger')} icon="plus" onClick=${() => setZoom(Math.min(3, scale * 1.25))} />
      <${Button} kind="square ghost" aria-label=${t('graph.fit')} icon="fit" onClick=${() => setZoom(0)} />
    </div>
    <div class="graph-box" ref=${box} tabindex="0" role="region" aria-label=${label ?? t('graph')}>
      <svg width=${width * scale} height=${height * scale} viewBox=${`${-MARGIN} ${-MARGIN} ${width} ${height}`} role="group" aria-label=${label ?? t('graph')}>
        <defs>${['arrow', 'arrow-taken'].map(id => html`<marker id=${id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0.8L7 4L0 7.2z" /></marker>`)}</defs>
        <${Scene} scene=${scene} model=${model} chosen=${chosen} onChoose=${onChoose} onToggle=${toggle} marked=${marked} /></svg></div>
    ${scene.folded > 0 && html`<p class="faint">${t('graph.folded', { n: scene.folded, count: count(scene.folded) })}</p>`}
  </div>`
}

// The same as a table: every node of the documents and every one that had an event.
export function GraphTable({ model, documents, chosen, onChoose }) {
  model?.version.value
  const keys = useMemo(() => {
    const all = []
    const walk = (name, prefix, depth) => {
      for (const [id, node] of Object.entries(documents.all.get(name)?.nodes ?? {})) {
        all.push({ key: prefix + id, id, depth, kind: node.kind })
        if (depth < 6 && documents.all.has(node.graph)) walk(node.graph, prefix + id + '/', depth + 1)
      }
    }
    walk(documents.root, '', 0)
    const known = new Set(all.map(one => one.key))
    for (const key of model?.stats.keys() ?? []) if (!known.has(key)) all.push({ key, id: key, depth: 0, kind: '' })
    return all.slice(0, 1000)
  }, [documents, model?.stats.size])
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${t('graph.table')}><table><thead><tr><th scope="col">${t('node')}</th><th scope="col">${t('kind')}</th>
    <th scope="col">${t('state')}</th><th scope="col" class="number">${t('duration')}</th></tr></thead>
    <tbody>${keys.map(({ key, id, depth, kind }) => {
      const stat = model?.stats.get(key)
      return html`<tr key=${key} class=${chosen === key ? 'chosen' : ''}><td class=${'depth' + Math.min(depth, 4)}><button type="button" class="link" onClick=${() => onChoose(key)}>${id}</button></td>
        <td class="faint">${kind}</td><td class=${'node-state ' + stateOf(stat)}>${countsText(stat)}</td><td class="number">${stat?.done ? duration(stat.ms / stat.done) : ''}</td></tr>`
    })}</tbody></table></div>`
}

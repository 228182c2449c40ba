// The documents of an agent as boxes and arrows: a node that holds a graph can be open, and has that graph within it.
import { layout } from './layout.js'
import { parseJson } from '../base/api.js'

export const FOLD_NODES = 150
const WIDTH_MIN = 118, WIDTH_MAX = 270, HEIGHT = 42, PAD = 16, HEAD = 36, CHARACTER = 8

export function documentsOf(described) {
  const all = new Map()
  for (const graph of described?.graphs ?? []) all.set(graph.name, parseJson(graph.documentJson, { nodes: {} }))
  return { root: described?.graphs?.[0]?.name, all }
}

const targetsOf = node => Object.entries(node.on ?? {}).flatMap(([outcome, to]) => (Array.isArray(to) ? to : [to]).map(one => ({ outcome, to: one })))

// Paths of nodes that hold a graph, outermost first; they are opened in this order as long as there is room.
export function holders(documents, name = documents.root, prefix = '', depth = 0) {
  const nodes = documents.all.get(name)?.nodes ?? {}
  const own = Object.entries(nodes).filter(([, node]) => documents.all.has(node.graph))
    .map(([id, node]) => ({ key: prefix + id, graph: node.graph, size: Object.keys(documents.all.get(node.graph).nodes ?? {}).length }))
  return depth > 11 ? own : [...own, ...own.flatMap(one => holders(documents, one.graph, one.key + '/', depth + 1))]
}

export function openAtFirst(documents) {
  let room = 72 - Object.keys(documents.all.get(documents.root)?.nodes ?? {}).length
  const open = new Set()
  for (const one of holders(documents)) {
    const parent = one.key.includes('/') ? one.key.slice(0, one.key.lastIndexOf('/')) : null
    if (one.size > room || (parent && !open.has(parent))) continue
    open.add(one.key)
    room -= one.size
  }
  return open
}

// {width, height, boxes: [{key, node, x, y, width, height, inner}], lines, folded}
export function sceneOf(documents, open, name = documents.root, prefix = '') {
  const document = documents.all.get(name) ?? {}
  const entries = Object.entries(document.nodes ?? {})
  const shown = entries.slice(0, FOLD_NODES)
  const inner = new Map()
  const boxes = shown.map(([id, node]) => {
    const key = prefix + id
    const holds = documents.all.has(node.graph)
    if (holds && open.has(key)) inner.set(id, sceneOf(documents, open, node.graph, key + '/'))
    const scene = inner.get(id)
    const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, id.length * CHARACTER + 48 + (holds ? 14 : 0)))
    return { id, key, node, holds, width: scene ? Math.max(width, scene.width + 2 * PAD) : width, height: scene ? scene.height + HEAD + PAD : HEIGHT, inner: scene }
  })
  const arrows = [], byPair = new Map()
  const ids = new Set(shown.map(([id]) => id))
  const arrow = (from, to, label) => {
    const pair = from + '\0' + to
    if (byPair.has(pair)) {
      if (label) byPair.get(pair).labels.push(label)
    } else {
      const one = { from, to, labels: label ? [label] : [] }
      byPair.set(pair, one)
      arrows.push(one)
    }
  }
  const starts = [].concat(document.start ?? []).filter(id => ids.has(id))
  for (const id of starts) arrow('\0start', id, '')
  let ends = false
  for (const [id, node] of shown) {
    const targets = targetsOf(node)
    for (const { outcome, to } of targets) {
      const target = to === 'end' || !(to in document.nodes) ? '\0end' : to
      ends ||= target === '\0end'
      arrow(id, target, targets.length > 1 || !['done'].includes(outcome) ? outcome : '')
    }
    if (!targets.length && !node.may_reach?.length) {
      arrow(id, '\0end', '')
      ends = true
    }
    for (const to of [].concat(node.may_reach ?? [])) if (ids.has(to)) arrow(id, to, '')
    if (node.visits?.then && ids.has(node.visits.then)) arrow(id, node.visits.then, '')
  }
  if (document.error_node && ids.has(document.error_node)) { /* reached from every node: not drawn as arrows */ }
  const nodes = [...boxes.map(({ id, width, height }) => ({ id, width, height }))]
  if (starts.length) nodes.unshift({ id: '\0start', width: 14, height: 14 })
  if (ends) nodes.push({ id: '\0end', width: 14, height: 14 })
  const made = layout(nodes, arrows.filter(one => one.to !== '\0end' || ends), ['\0start'])
  for (const box of boxes) Object.assign(box, made.places.get(box.id))
  return { ...made, boxes, prefix, start: made.places.get('\0start'), end: made.places.get('\0end'),
    folded: entries.length - shown.length, total: entries.length }
}

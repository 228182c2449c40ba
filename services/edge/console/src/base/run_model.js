// What the events of a run say, kept so that the graph, the time line and the log show the same. A page applies events
// as they come and draws once a frame, however many there were.
import { signal } from './html.js'

const LOG_MAX = 5000, LOG_SPARE = 1000, TEXT_MAX = 65536

export const genericPath = path => String(path ?? '').replace(/\[\d+\]/g, '')
export const nodeKey = (path, node) => (path ? genericPath(path) + '/' : '') + node

const emptyStat = () => ({ running: 0, done: 0, failed: 0, retried: 0, waiting: 0, cached: 0, started: 0, ms: 0, outcomes: new Map() })

export class RunModel {
  version = signal(0)
  last = 0
  state = null
  stopped = null
  stats = new Map() // nodeKey → emptyStat()
  spans = []
  open = new Map() // path|node|branch → span
  texts = new Map() // path|node|branch → text that is being written
  interrupts = new Map()
  answered = new Map()
  checkpoints = 0
  log = []
  dropped = 0 // events before the first of the log
  dirty = false

  stat(key) {
    if (!this.stats.has(key)) this.stats.set(key, emptyStat())
    return this.stats.get(key)
  }

  changed() {
    if (this.dirty) return
    this.dirty = true
    const flush = () => {
      this.dirty = false
      this.version.value++
    }
    if (document.visibilityState === 'visible') requestAnimationFrame(flush)
    else setTimeout(flush, 250)
  }

  apply(event) {
    const id = Number(event.eventId) || 0
    const ms = Number(event.timeMs) || 0
    const where = `${event.path}|${event.node}|${event.branch}`
    const key = nodeKey(event.path, event.node)
    this.last = Math.max(this.last, id)
    if (event.heartbeat !== undefined) return
    if (event.nodeStarted) this.started(event, where, key, ms)
    else if (event.nodeFinished) this.ended(event, where, key, ms, 'done', event.nodeFinished)
    else if (event.nodeFailed) this.ended(event, where, key, ms, event.nodeFailed.statusCode === 1 ? 'cancelled' : 'failed', event.nodeFailed)
    else if (event.nodeRetried) {
      this.stat(key).retried++
      this.ended(event, where, key, ms, 'retried', event.nodeRetried)
    } else if (event.token) {
      const channel = where + '|' + (event.token.channel ?? '')
      this.texts.set(channel, ((this.texts.get(channel) ?? '') + event.token.text).slice(-TEXT_MAX))
    } else if (event.interrupted) {
      if (!this.answered.has(event.interrupted.interruptId)) {
        this.interrupts.set(event.interrupted.interruptId, event.interrupted)
        const stat = this.stat(nodeKey(event.interrupted.path, event.interrupted.node))
        stat.waiting = 1
        const span = this.open.get(where)
        if (span && event.interrupted.kind === 'INTERRUPT_KIND_QUESTION') this.close(span, where, key, ms, 'asked')
      }
    } else if (event.answered) {
      const asked = this.interrupts.get(event.answered.interruptId)
      this.answered.set(event.answered.interruptId, event.answered)
      this.interrupts.delete(event.answered.interruptId)
      if (asked) this.stat(nodeKey(asked.path, asked.node)).waiting = 0
    } else if (event.checkpoint) this.checkpoints++
    else if (event.stateChanged) {
      this.state = event.stateChanged.current
      if (this.state === 'RUN_STATE_RUNNING') this.stands()
    } else if (event.stopped) {
      this.state = event.stopped.state
      this.stopped = event.stopped
      if (event.stopped.state !== 'RUN_STATE_WAITING') for (const [place, span] of [...this.open]) this.close(span, place, nodeKey(span.path, span.node), ms, 'cancelled')
    }
    if (!event.token) {
      this.log.push(event)
      if (this.log.length > LOG_MAX + LOG_SPARE) this.dropped += this.log.splice(0, this.log.length - LOG_MAX).length
    }
    this.changed()
  }

  // A run that goes on has leave for what it stood before or after.
  stands() {
    for (const [id, one] of this.interrupts)
      if (one.kind !== 'INTERRUPT_KIND_QUESTION') {
        this.interrupts.delete(id)
        this.stat(nodeKey(one.path, one.node)).waiting = 0
      }
    this.stopped = null
  }

  started(event, where, key, ms) {
    const earlier = this.open.get(where)
    if (earlier) this.close(earlier, where, key, ms, 'lost')
    const stat = this.stat(key)
    stat.running++
    stat.started++
    const span = { id: this.spans.length, path: event.path, node: event.node, branch: event.branch, step: Number(event.step) || 0, kind: event.nodeStarted.kind,
      attempt: event.nodeStarted.attempt, start: ms, end: 0, state: 'running', text: '', usage: null, outcome: '' }
    this.spans.push(span)
    this.open.set(where, span)
  }

  ended(event, where, key, ms, state, what) {
    let span = this.open.get(where)
    if (!span) { // begun before the first event that is kept
      const took = Number(what.durationMs) || 0
      span = { id: this.spans.length, path: event.path, node: event.node, branch: event.branch, step: Number(event.step) || 0, kind: '', attempt: what.attempt,
        start: ms - took, end: 0, state: 'running', text: '', usage: null, outcome: '' }
      this.spans.push(span)
      this.stat(key).running++
      this.stat(key).started++
    }
    span.outcome = what.outcome ?? ''
    span.text = what.message ?? ''
    span.usage = what.usage ?? null
    span.cached = !!what.cached
    span.degradations = what.degradations ?? []
    span.statusCode = what.statusCode ?? 0
    this.close(span, where, key, ms, state)
  }

  close(span, where, key, ms, state) {
    const stat = this.stat(key)
    span.end = ms
    span.state = state
    stat.running = Math.max(0, stat.running - 1)
    if (state === 'done') {
      stat.done++
      stat.ms += span.end - span.start
      if (span.cached) stat.cached++
      stat.outcomes.set(span.outcome, (stat.outcomes.get(span.outcome) ?? 0) + 1)
    }
    if (state === 'failed') stat.failed++
    this.open.delete(where)
    if (state !== 'done') for (const channel of this.texts.keys()) if (channel.startsWith(where + '|')) this.texts.delete(channel)
  }

  // The span within a node that holds a graph or branches, which ended last: the node waited for it.
  within(span) {
    const holder = (span.path ? span.path + '/' : '') + span.node
    let found = null
    for (const one of this.places().inner.get(holder) ?? [])
      if (one.end && one.start >= span.start && (!span.end || one.end <= span.end + 1) && (!found || one.end >= found.end)) found = one
    return found
  }

  // Spans by the node that holds them, and by their graph and step; made anew when there are more spans.
  places() {
    if (this.placed?.count === this.spans.length) return this.placed
    const inner = new Map(), steps = new Map()
    const add = (map, key, span) => (map.has(key) ? map.get(key).push(span) : map.set(key, [span]))
    for (const one of this.spans) {
      add(inner, one.path.replace(/\[\d+\]$/, ''), one)
      add(steps, `${one.path}|${one.step}`, one)
    }
    this.placed = { count: this.spans.length, inner, steps }
    return this.placed
  }

  // The spans that took the time until this one ended, in the order of time: whom it waited for, and whom these did.
  waits(span, most = 300) {
    const found = new Set(), queue = [span]
    while (queue.length && found.size < most) {
      const one = queue.pop()
      if (!one || found.has(one)) continue
      found.add(one)
      queue.push(this.before(one), this.within(one))
    }
    return [...found].sort((a, b) => a.start - b.start || a.id - b.id)
  }

  // The last one that a span waited for: of its graph, in the step before.
  before(span) {
    let found = null
    for (const one of this.places().steps.get(`${span.path}|${span.step - 1}`) ?? [])
      if (one.end && one.end <= span.start + 1 && (!found || one.end > found.end)) found = one
    return found
  }
}

export function stateOf(stat) {
  if (!stat) return 'idle'
  if (stat.waiting) return 'waiting'
  if (stat.running) return 'running'
  if (stat.failed) return 'failed'
  if (stat.done) return 'done'
  return stat.started ? 'ended' : 'idle'
}

// One event stream for all tabs of a browser. The tab that has the Web Lock reads it and tells the others by
// BroadcastChannel; when that tab closes, another one takes the lock and goes on where the last event was.
import { signal } from './html.js'
import { query } from './api.js'
import { readStream } from './sse.js'

const HEARTBEAT_MS = 5000
const FORGET_MS = 150000 // timers of a hidden tab run once a minute
const JOIN_MS = 40
const AGAIN_MS = 1000

export const link = signal('idle') // idle, open, lost
const tab = crypto.randomUUID()
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('renga-events-2') : null
const subscriptions = new Set() // of this tab: {runId, last, onEvent}
const touched = new Set() // callbacks for "this run was changed by a user"
let leading = false

const tell = message => channel?.postMessage({ tab, ...message })
let outbox = null

// Events go to the other tabs in one message for each part of the stream that was read.
function tellEvent(runId, message) {
  if (!outbox) {
    outbox = []
    queueMicrotask(() => {
      tell({ kind: 'events', list: outbox })
      outbox = null
    })
  }
  outbox.push({ runId, message })
}
const number = id => Number(id) || 0

function wishes() {
  const runs = {}
  for (const one of subscriptions) runs[one.runId] = Math.min(runs[one.runId] ?? Infinity, one.last)
  return runs
}

function deliver(runId, message) {
  for (const one of [...subscriptions]) {
    if (one.runId !== runId) continue
    const { event, data } = message
    const id = number(data?.eventId)
    if (event === 'message') {
      if (data.heartbeat === undefined && id && id <= one.last) continue
      one.last = Math.max(one.last, id)
    }
    one.onEvent(message)
  }
}

// ---- the leader
const wanted = new Map() // tab → {runs, heard}
let elsewhere = new Set() // runs that other tabs want
const cursor = new Map() // run → last event that was read
let reading = null, joining = 0

function runsWanted() {
  const runs = new Map()
  for (const { runs: own } of wanted.values())
    for (const [runId, after] of Object.entries(own)) runs.set(runId, Math.min(runs.get(runId) ?? Infinity, after))
  return runs
}

function reconnectSoon() {
  clearTimeout(joining)
  joining = setTimeout(connect, JOIN_MS)
}

function want(from, runs) {
  const before = wanted.get(from)?.runs ?? {}
  wanted.set(from, { runs, heard: Date.now() })
  elsewhere = new Set([...wanted].flatMap(([other, one]) => (other === tab ? [] : Object.keys(one.runs))))
  let changed = false
  for (const [runId, after] of Object.entries(runs)) {
    if (runId in before && before[runId] <= after) continue
    if (!cursor.has(runId) || after < cursor.get(runId)) {
      cursor.set(runId, after)
      changed = true
    }
  }
  if (!leading) return
  const all = runsWanted()
  for (const runId of cursor.keys())
    if (!all.has(runId)) {
      cursor.delete(runId)
      changed = true
    }
  if (changed || (!reading && all.size)) reconnectSoon()
}

function setLink(state) {
  link.value = state
  tell({ kind: 'link', state })
}

function forward(runId, message) {
  deliver(runId, message)
  if (elsewhere.has(runId)) tellEvent(runId, message)
}

function connect() {
  reading?.abort()
  reading = null
  if (!leading || !runsWanted().size) return setLink('idle')
  const stop = new AbortController()
  reading = stop
  readStream(() => {
    const runs = [...cursor.keys()]
    const after = Object.fromEntries([...cursor].filter(([, last]) => last > 0).map(([runId, last]) => ['after.' + runId, last]))
    return { path: '/v1/events:watch?' + query({ runs: runs.join(','), ...after }), resumes: false }
  }, {
    signal: stop.signal,
    onLink: setLink,
    onEvent: message => {
      if (stop.signal.aborted) return
      const runId = message.data?.runId
      if (message.event === 'gap' && message.data.reason === 'TOO_LARGE') // of one of the runs: all are read anew from where they stand
        for (const one of [...cursor.keys()]) forward(one, { event: 'error', data: { runId: one, error: { status: 'OUT_OF_RANGE' } } })
      if (!runId) return
      if (message.event === 'error' && message.data.error?.status === 'UNAVAILABLE') { // its orchestrator: the others go on
        setTimeout(() => reading === stop && reconnectSoon(), AGAIN_MS)
        return
      }
      const id = number(message.data.eventId)
      if (message.event === 'message' && id > (cursor.get(runId) ?? 0)) cursor.set(runId, id)
      forward(runId, message)
    },
  }).then(({ error }) => {
    if (reading !== stop) return
    reading = null
    setLink(error ? 'lost' : 'idle')
    if (!stop.signal.aborted) setTimeout(() => leading && !reading && runsWanted().size && reconnectSoon(), error ? 5 * AGAIN_MS : AGAIN_MS)
  })
}

function announce() {
  const runs = wishes()
  if (leading || !channel) want(tab, runs)
  tell({ kind: 'want', runs })
}

channel?.addEventListener('message', ({ data }) => {
  if (data.kind === 'want') want(data.tab, data.runs)
  else if (data.kind === 'who') announce()
  else if (data.kind === 'bye') want(data.tab, {})
  else if (data.kind === 'touched') touched.forEach(each => each(data.runId))
  else if (!leading && data.kind === 'events') data.list.forEach(one => deliver(one.runId, one.message))
  else if (!leading && data.kind === 'link') link.value = data.state
})
addEventListener('pagehide', () => tell({ kind: 'bye' }))
addEventListener('pageshow', () => subscriptions.size && announce())
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && subscriptions.size && announce())
setInterval(() => {
  if (subscriptions.size) announce()
  if (!leading) return
  for (const [from, one] of wanted) if (from !== tab && Date.now() - one.heard > FORGET_MS) want(from, {})
}, HEARTBEAT_MS)

function lead() {
  leading = true
  tell({ kind: 'who' })
  announce()
  reconnectSoon()
  return new Promise(() => {}) // the lock is held as long as the tab lives
}

if (navigator.locks) navigator.locks.request('renga-events-2', lead)
else lead()

// Hands each event of a run behind `after` to onEvent({event, data}); returns the end of it.
export function watchRun(runId, after, onEvent) {
  const one = { runId, last: after, onEvent }
  subscriptions.add(one)
  announce()
  return () => {
    subscriptions.delete(one)
    announce()
  }
}

// Tells all tabs that a user changed a run, so that no two pages disagree about it.
export function touch(runId) {
  touched.forEach(each => each(runId))
  tell({ kind: 'touched', runId })
}

export function onTouched(callback) {
  touched.add(callback)
  return () => touched.delete(callback)
}

// Long calls of typed agents have a stream each. A browser has six connections a host, so three of these at most run
// at the same time over all tabs; a fourth waits until one ends.
const SLOTS = 3
export async function withSlot(work) {
  if (!navigator.locks) return work()
  for (let slot = 0; slot < SLOTS; slot++) {
    let done = null
    const taken = await new Promise(resolve => {
      navigator.locks.request(`renga-slot-${slot}`, { ifAvailable: true }, lock => {
        if (!lock) return resolve(false)
        done = Promise.resolve().then(work)
        resolve(true)
        return done.catch(() => {})
      })
    })
    if (taken) return done
  }
  return navigator.locks.request(`renga-slot-${Math.floor(Math.random() * SLOTS)}`, work)
}

// Calls of typed agents that are streams: the request is kept by its run, so that a reload takes the stream up again
// from its beginning and comes to the same result.
import { newId, rawNumber } from './api.js'
import { shortened } from './format.js'
import { useEffect, useRef, useState } from './html.js'
import { rememberRequest, requestOf } from './kept.js'
import { readStream } from './sse.js'
import { touch, withSlot } from './shared_stream.js'

// Starts a run by its stream, and resolves with the run's id as soon as the run is kept.
export async function startTyped(kind, path, fields, title, onLink) {
  const body = { ...fields, options: { ...fields.options, requestId: newId(), keepRunning: true, labels: { title: shortened(title, 60) } } }
  const stop = new AbortController()
  let accepted = null
  const outcome = await withSlot(() => readStream(() => ({ path, method: 'POST', body }), {
    signal: stop.signal, onLink,
    onEvent: ({ event, data }) => {
      if (event !== 'message' || accepted || !data.accepted) return
      accepted = data.accepted
      stop.abort()
    },
  }))
  if (!accepted) throw outcome.error ?? new Error('no run')
  rememberRequest(kind, accepted.runId, [{ path, body }])
  return accepted
}

// Adds a further call (the answer of a person) to the requests of a run.
export function addCall(kind, runId, path, body) {
  rememberRequest(kind, runId, [...(requestOf(kind, runId) ?? []), { path, body }])
}

const REFUSED = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED', 'PERMISSION_DENIED']
const forgetCall = (kind, runId, number) => rememberRequest(kind, runId, (requestOf(kind, runId) ?? []).slice(0, number))

// The events of the calls of a run, in order, each once. reduce(state, data) gives the next state.
export function useTyped(kind, runId, { initial, reduce, turn = 0 }) {
  const [held, setHeld] = useState({ state: initial, error: null, done: false, link: 'idle', known: true })
  const now = useRef(null)
  useEffect(() => {
    const calls = requestOf(kind, runId)
    if (!calls?.length) {
      setHeld({ state: initial, error: null, done: true, link: 'idle', known: false })
      return undefined
    }
    const stop = new AbortController()
    let seen = 0, scheduled = false
    now.current = { state: initial, error: null, done: false, link: 'idle', known: true }
    const show = change => {
      Object.assign(now.current, change)
      if (scheduled) return
      scheduled = true
      setTimeout(() => {
        scheduled = false
        if (!stop.signal.aborted) setHeld({ ...now.current })
      }, 30)
    }
    const read = async () => {
      for (const [number, { path, body }] of calls.entries()) {
        const outcome = await withSlot(() => readStream(() => ({
          path, method: 'POST', body: { ...body, options: { ...body.options, ...(seen ? { afterEventId: String(seen) } : {}) } },
        }), {
          signal: stop.signal,
          onLink: link => show({ link }),
          onEvent: ({ event, data }) => {
            if (event !== 'message' || stop.signal.aborted) return
            const id = Number(data.eventId) || 0
            if (id && id <= seen && !data.result) return
            seen = Math.max(seen, id)
            show({ state: reduce(now.current.state, data) })
          },
        }))
        if (stop.signal.aborted) return
        if (outcome.error) {
          if (number && REFUSED.includes(outcome.error.status)) forgetCall(kind, runId, number) // the wait is still there, or another answer came first
          return show({ error: outcome.error, done: true })
        }
        if (number === calls.length - 1) show({ done: true, link: 'idle' })
      }
      touch(runId)
    }
    show({})
    read()
    return () => stop.abort()
  }, [kind, runId, turn])
  return held
}

// Keys of the state's JSON as the contract's JSON has them.
export function camel(value) {
  if (Array.isArray(value)) return value.map(camel)
  if (!value || typeof value !== 'object' || rawNumber(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase()), camel(one)]))
}

// Reads server-sent events through fetch, which sees status codes and sends headers, and comes back after a cut.
import { errorOf } from './api.js'

const SILENCE_MS = 45000
const BACKOFF_MS = [500, 30000]
const WORK_MS = 24, PART = 8192 // characters of a piece between two looks at the clock

// Feeds text in pieces and tells each block as {event, id, data}. A piece may end anywhere, also between \r and \n.
export function blockParser(onBlock) {
  let rest = '', block = { event: '', data: [], id: undefined, retry: 0 }, started = false
  const line = text => {
    if (text === '') {
      if (block.data.length || block.retry) onBlock({ ...block, event: block.event || 'message', data: block.data.join('\n') })
      block = { event: '', data: [], id: undefined, retry: 0 }
      return
    }
    const colon = text.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? text : text.slice(0, colon)
    let value = colon < 0 ? '' : text.slice(colon + 1)
    if (value.startsWith(' ')) value = value.slice(1)
    if (name === 'data') block.data.push(value)
    else if (name === 'event') block.event = value
    else if (name === 'id' && !value.includes('\0')) block.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) block.retry = Number(value)
  }
  return piece => {
    rest += piece
    if (!started && rest) {
      started = true
      if (rest.charCodeAt(0) === 0xfeff) rest = rest.slice(1)
    }
    for (;;) {
      const end = rest.search(/[\r\n]/)
      if (end < 0 || (rest[end] === '\r' && end === rest.length - 1)) return
      line(rest.slice(0, end))
      rest = rest.slice(end + (rest[end] === '\r' && rest[end + 1] === '\n' ? 2 : 1))
    }
  }
}

// Sleeps, but less when the network or the user comes back.
function pause(ms, signal) {
  return new Promise(resolve => {
    const wake = () => {
      clearTimeout(timer)
      removeEventListener('online', wake)
      document.removeEventListener('visibilitychange', seen)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const seen = () => document.visibilityState === 'visible' && wake()
    const timer = setTimeout(wake, ms)
    addEventListener('online', wake)
    document.addEventListener('visibilitychange', seen)
    signal.addEventListener('abort', wake)
  })
}

const GONE = ['TOO_LARGE', 'OUT_OF_RANGE'] // reasons of a gap at which the same request would end again
const gaveUp = status => [400, 401, 403, 404, 409, 412, 415, 422, 499].includes(status)

async function readBody(response, signal, onBlock) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const parse = blockParser(onBlock)
  let silence, rested = performance.now()
  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(() => reader.cancel('silent'), SILENCE_MS)
  }
  try {
    for (;;) {
      heard()
      const { value, done } = await reader.read()
      if (done || signal.aborted) return
      for (let at = 0; at < value.length && !signal.aborted; at += PART) {
        parse(value.slice(at, at + PART))
        if (performance.now() - rested < WORK_MS) continue
        await new Promise(later => setTimeout(later)) // the page draws and takes keys within a long history
        rested = performance.now()
      }
    }
  } finally {
    clearTimeout(silence)
    reader.cancel().catch(() => {})
  }
}

// Reads one stream until its `end`, its `error`, an answer that repetition cannot mend, or `signal`.
//   request(lastId)  gives {path, method, body, resumes} of the next connection; resumes: with Last-Event-ID
//   onEvent({event, id, data})  each event; data is parsed
//   onLink('open' | 'lost')  how the connection is
// Resolves with {end} or {error: ApiError or the error object of the stream}.
export async function readStream(request, { signal, onEvent, onLink }) {
  let lastId, failures = 0
  while (!signal.aborted) {
    const { path, method = 'GET', body, resumes = method === 'GET' } = request(lastId)
    let outcome = null, wait = 0
    try {
      const response = await fetch(path, {
        method, signal, cache: 'no-store', body: body === undefined ? undefined : JSON.stringify(body),
        headers: {
          accept: 'text/event-stream', ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(resumes && lastId !== undefined ? { 'last-event-id': lastId } : {}),
        },
      })
      if (!response.ok) {
        const error = await errorOf(response)
        if (gaveUp(response.status)) return { error }
        wait = error.retryAfter * 1000
      } else {
        onLink?.('open')
        await readBody(response, signal, block => {
          if (block.id !== undefined) lastId = block.id
          if (!block.data) return
          failures = 0
          let data
          try {
            data = JSON.parse(block.data)
          } catch {
            return
          }
          if (block.event === 'end') outcome = { end: data }
          else if (block.event === 'error' && !data.runId) outcome = { error: data.error ?? data }
          else if (block.event === 'gap' && GONE.includes(data.reason)) outcome = { error: { status: 'OUT_OF_RANGE', message: data.message } }
          onEvent({ event: block.event, id: block.id, data })
        })
      }
    } catch { /* refused, cut or silent: again below */ }
    const again = outcome?.error?.status === 'UNAVAILABLE'
    if (outcome && !again) return outcome
    if (signal.aborted) break
    onLink?.('lost')
    const backoff = Math.min(BACKOFF_MS[1], BACKOFF_MS[0] * 2 ** failures)
    failures++
    await pause(Math.max(wait, backoff * (0.5 + Math.random() / 2)), signal)
  }
  return { end: { reason: 'aborted' } }
}

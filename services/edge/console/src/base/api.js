// Calls of the edge. An error of the edge becomes an ApiError with the code, the reason and the fields that are wrong.
import { learnTime } from './clock.js'
import { signal } from './html.js'

// {signedIn, needsKey, tenant, client}, or null before the first answer.
export const session = signal(null)

export class ApiError extends Error {
  constructor(http, body, retryAfter) {
    const error = body?.error ?? {}
    super(error.message || (http ? 'HTTP ' + http : ''))
    this.http = http
    this.status = error.status ?? (http === 503 ? 'UNAVAILABLE' : 'UNKNOWN')
    this.details = error.details ?? []
    this.retryAfter = Number(retryAfter) || 0
    this.reason = this.detail('ErrorInfo')?.reason ?? ''
  }

  detail(name) {
    return this.details.find(one => String(one?.['@type'] ?? '').endsWith('.' + name))
  }

  get fields() {
    return this.detail('BadRequest')?.fieldViolations ?? []
  }
}

export async function errorOf(response) {
  let body = null
  try {
    body = await response.json()
  } catch { /* a proxy's page */ }
  if (response.status === 401 && session.value) session.value = { ...session.value, signedIn: false, needsKey: true }
  return new ApiError(response.status, body, response.headers.get('retry-after'))
}

// Fields of a request as a query: lists repeat, maps are a[b]=value, and empty values are left out.
export function query(fields) {
  const parts = []
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined || value === null || value === '') continue
    if (Array.isArray(value)) parts.push(...value.map(one => [name, one]))
    else if (typeof value === 'object') parts.push(...Object.entries(value).map(([key, one]) => [`${name}[${key}]`, one]))
    else parts.push([name, value])
  }
  return parts.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}

export const withQuery = (path, fields) => {
  const text = query(fields)
  return text ? `${path}?${text}` : path
}

export const newId = () => crypto.randomUUID()

async function call(method, path, body, { signal, key } = {}) {
  const headers = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (key) headers['idempotency-key'] = key
  let response
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) })
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new ApiError(0, { error: { status: 'UNAVAILABLE', message: '' } })
  }
  learnTime(response.headers.get('date'))
  if (!response.ok) throw await errorOf(response)
  return response.status === 204 ? {} : response.json()
}

export const get = (path, fields, options) => call('GET', withQuery(path, fields), undefined, options)
export const post = (path, body, options) => call('POST', path, body ?? {}, options)
export const put = (path, body, options) => call('PUT', path, body ?? {}, options)
export const remove = (path, fields, options) => call('DELETE', withQuery(path, fields), undefined, options)
export const seg = encodeURIComponent

export async function loadSession() {
  session.value = await get('/v1/session')
}

// An integer beyond 2^53 stays as it is written, where the browser can do that: else a page would show another number,
// and a fork would write it.
const exact = (key, value, context) => (typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source) ? JSON.rawJSON(context.source) : value)
export const parseExact = text => (JSON.rawJSON && /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text))
export const rawNumber = value => (JSON.isRawJSON?.(value) ? value.rawJSON : null)

// A JSON text that the contract carries within a field; `otherwise` for an empty or broken one.
export function parseJson(text, otherwise = null) {
  if (!text) return otherwise
  try {
    return parseExact(text)
  } catch {
    return otherwise
  }
}

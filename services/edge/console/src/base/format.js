// Numbers, times and sizes as the language of the user writes them.
import { serverNow } from './clock.js'
import { lang } from './words.js'

const cache = new Map()
function formatter(kind, options) {
  const key = kind.name + lang.value + JSON.stringify(options)
  if (!cache.has(key)) cache.set(key, new kind(lang.value === 'ja' ? 'ja-JP' : 'en-GB', options))
  return cache.get(key)
}

export const count = value => formatter(Intl.NumberFormat, {}).format(Number(value) || 0)
export const compact = value =>
  formatter(Intl.NumberFormat, { notation: 'compact', maximumFractionDigits: 1 }).format(Number(value) || 0)
export const percent = value => formatter(Intl.NumberFormat, { style: 'percent' }).format(Number(value) || 0)
export const decimal = (value, digits = 2) =>
  formatter(Intl.NumberFormat, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(Number(value) || 0)

export function cost(micros) {
  const usd = (Number(micros) || 0) / 1e6
  const digits = usd === 0 || usd >= 0.01 ? 2 : 4
  return formatter(Intl.NumberFormat, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits, maximumFractionDigits: digits }).format(usd)
}

export function duration(ms) {
  const value = Math.max(0, Number(ms) || 0)
  const unit = (number, name, digits = 0) => formatter(Intl.NumberFormat,
    { style: 'unit', unit: name, unitDisplay: 'narrow', maximumFractionDigits: digits }).format(number)
  if (value < 1000) return unit(Math.round(value), 'millisecond')
  if (value < 9950) return unit(value / 1000, 'second', 1)
  if (value < 60000) return unit(Math.floor(value / 1000), 'second')
  const minutes = Math.floor(value / 60000)
  if (minutes < 60) return unit(minutes, 'minute') + ' ' + unit(Math.floor(value / 1000) % 60, 'second')
  if (minutes < 2880) return unit(Math.floor(minutes / 60), 'hour') + ' ' + unit(minutes % 60, 'minute')
  return unit(Math.floor(minutes / 1440), 'day')
}

export const time = ms => formatter(Intl.DateTimeFormat, { dateStyle: 'medium', timeStyle: 'long' }).format(Number(ms))
export const clock = ms => formatter(Intl.DateTimeFormat, { timeStyle: 'medium' }).format(Number(ms))
export const instant = ms => formatter(Intl.DateTimeFormat, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' }).format(Number(ms))
export const day = ms => formatter(Intl.DateTimeFormat, { month: 'short', day: 'numeric' }).format(Number(ms))
export const utc = ms => new Date(Number(ms)).toISOString()

const STEPS = [['second', 60], ['minute', 60], ['hour', 24], ['day', 30], ['month', 12], ['year', Infinity]]
export function ago(ms, now = serverNow()) {
  let amount = (Number(ms) - now) / 1000
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return formatter(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(Math.round(amount), unit)
    amount /= size
  }
  return ''
}

export function bytes(value) {
  let size = Number(value) || 0
  for (const unit of ['byte', 'kilobyte', 'megabyte', 'gigabyte']) {
    if (size < 1000 || unit === 'gigabyte')
      return formatter(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(size)
    size /= 1000
  }
}

export const sorted = (list, by) => {
  const order = formatter(Intl.Collator, { numeric: true })
  return [...list].sort((a, b) => order.compare(by(a), by(b)))
}

// A text in one line of at most so many characters, with "…" where it goes on.
export function shortened(text, most) {
  const whole = [...text.trim().replace(/\s+/g, ' ')]
  return whole.length > most ? whole.slice(0, most - 1).join('').trimEnd() + '…' : whole.join('')
}

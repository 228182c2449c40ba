// Paths of the console. The edge gives index.html for each of them, so that they can be opened and reloaded.
import { signal } from './html.js'

export { match } from './router_match.js'

const here = () => ({ path: location.pathname, fields: new URLSearchParams(location.search) })

export const route = signal(here())

export function navigate(to, { replace = false } = {}) {
  if (to === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  route.value = here()
  if (!replace) scrollTo(0, 0)
}

// Changes fields of the query in place; an empty value takes its field away.
export function setFields(changes) {
  const fields = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value) fields.set(name, value)
    else fields.delete(name)
  }
  const text = fields.toString()
  navigate(location.pathname + (text ? '?' + text : ''), { replace: true })
}

addEventListener('popstate', () => { route.value = { ...here(), back: true } })
document.addEventListener('click', event => {
  const anchor = event.target.closest?.('a[href]')
  if (!anchor || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return
  if (anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return
  const hash = anchor.getAttribute('href')
  if (hash.startsWith('#')) return
  if (/^\/(v1|openapi|healthz|assets)/.test(anchor.pathname)) return
  event.preventDefault()
  navigate(anchor.pathname + anchor.search)
})

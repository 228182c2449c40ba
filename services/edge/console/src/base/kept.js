// Small settings of this user in the browser's store. A browser that refuses storage loses them and nothing else.
const PREFIX = 'renga.'

export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name))
  } catch {
    return null
  }
}

export function keep(name, value) {
  try {
    if (value === null || value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch { /* full or refused */ }
}

// Texts that were typed and not sent yet: they outlive a reload of this tab.
export const draft = {
  get(name) {
    try {
      return sessionStorage.getItem(PREFIX + name) ?? ''
    } catch {
      return ''
    }
  },
  set(name, text) {
    try {
      if (text) sessionStorage.setItem(PREFIX + name, text)
      else sessionStorage.removeItem(PREFIX + name)
    } catch { /* full or refused */ }
  },
}

// The newest `most` requests of one kind, by run: with them a page takes up the stream of a run after a reload.
export function rememberRequest(kind, runId, request, most = 50) {
  const list = (kept(kind) ?? []).filter(entry => entry.runId !== runId)
  keep(kind, [{ runId, request }, ...list].slice(0, most))
}

// Forgets all texts of this user; the language and the colours stay.
export function forgetTexts() {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX) && !['lang', 'scheme'].includes(name.slice(PREFIX.length))) localStorage.removeItem(name)
    sessionStorage.clear()
  } catch { /* refused */ }
}

export const requestOf = (kind, runId) => (kept(kind) ?? []).find(entry => entry.runId === runId)?.request

// A path against a template: '/runs/:runId' gives {runId}, or null.
export function match(template, path) {
  const wanted = template.split('/'), given = path.replace(/\/$/, '').split('/')
  if (wanted.length !== given.length) return null
  const found = {}
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i].startsWith(':')) {
      try {
        found[wanted[i].slice(1)] = decodeURIComponent(given[i])
      } catch {
        return null
      }
    } else if (wanted[i] !== given[i]) return null
  }
  return found
}

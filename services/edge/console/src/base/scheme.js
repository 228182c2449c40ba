// Light or dark: as the system says, or as the user chose.
import { computed, effect, signal } from './html.js'
import { keep, kept } from './kept.js'

const system = matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(system.matches)
system.addEventListener('change', event => { systemDark.value = event.matches })
export const chosen = signal(['light', 'dark'].includes(kept('scheme')) ? kept('scheme') : '')
export const scheme = computed(() => chosen.value || (systemDark.value ? 'dark' : 'light'))

effect(() => {
  if (chosen.value) document.documentElement.dataset.scheme = chosen.value
  else delete document.documentElement.dataset.scheme
})

export function toggleScheme() {
  chosen.value = scheme.value === 'dark' ? 'light' : 'dark'
  keep('scheme', chosen.value)
}

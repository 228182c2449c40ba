// Signing in with a key, which the edge keeps in a session; this page forgets it.
import { loadSession, post } from '../base/api.js'
import { html, useEffect, useRef, useState } from '../base/html.js'
import { touch } from '../base/shared_stream.js'
import { t } from '../base/words.js'
import { Button, ErrorNote } from '../parts/basics.js'

export function SignIn() {
  const [busy, setBusy] = useState(false), [error, setError] = useState(null)
  const input = useRef(null)
  useEffect(() => {
    document.title = t('sign_in.title') + ' · Renga'
    input.current?.focus()
  }, [])
  const submit = async event => {
    event.preventDefault()
    if (!input.current.value || busy) return
    setBusy(true)
    setError(null)
    try {
      await post('/v1/session', { key: input.current.value })
      input.current.value = ''
      await loadSession()
      touch('')
    } catch (wrong) {
      setError(wrong)
      input.current?.select()
    }
    setBusy(false)
  }
  return html`<main class="sign-in"><form class="card" onSubmit=${submit}><p class="brand"><span class="brand-mark" aria-hidden="true"></span>Renga</p><h1>${t('sign_in.title')}</h1><p class="faint">${t('sign_in.help')}</p>
    <div class="field"><label for="key">${t('sign_in.key')}</label><input id="key" ref=${input} type="password" autocomplete="current-password" required spellcheck="false" /></div>
    <${ErrorNote} error=${error} /><${Button} kind="primary wide" type="submit" busy=${busy}>${t('sign_in.send')}<//></form></main>`
}

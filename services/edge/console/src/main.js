// The frame of the console: who is signed in, the ways to the pages, and the page of the path.
import { loadSession, remove, session } from './base/api.js'
import { Component, effect, html, render, useEffect, useState } from './base/html.js'
import { match, route } from './base/router.js'
import { forgetTexts } from './base/kept.js'
import { scheme, toggleScheme } from './base/scheme.js'
import { onTouched, touch } from './base/shared_stream.js'
import { lang, setLang, t } from './base/words.js'
import { Button, Empty, ErrorNote, Loading, Page } from './parts/basics.js'
import { Icon } from './parts/icons.js'
import { Agent, Agents } from './pages/agents.js'
import { Ask, AskRun } from './pages/ask.js'
import { Documents } from './pages/documents.js'
import { Interview, Interviews } from './pages/interview.js'
import { Models } from './pages/models.js'
import { Playbook, Playbooks } from './pages/playbooks.js'
import { Research } from './pages/research.js'
import { AutoRun } from './pages/research_auto.js'
import { DeepRun } from './pages/research_deep.js'
import { Run } from './pages/run.js'
import { Runs } from './pages/runs.js'
import { SignIn } from './pages/sign_in.js'

const PAGES = [
  ['/', Ask], ['/ask', Ask], ['/ask/:runId', AskRun], ['/interview', Interviews], ['/interview/:sessionId', Interview],
  ['/research', Research], ['/research/deep/:runId', DeepRun], ['/research/autonomous/:runId', AutoRun],
  ['/runs', Runs], ['/runs/:runId', Run], ['/agents', Agents], ['/agents/:name', Agent], ['/models', Models],
  ['/playbooks', Playbooks], ['/playbooks/:name', Playbook], ['/documents', Documents],
]
const WAYS = ['ask', 'interview', 'research', 'runs', 'agents', 'models', 'playbooks', 'documents']

// A page that breaks says so, and leaves the others alone.
class Guard extends Component {
  state = { error: null }
  static getDerivedStateFromError(error) {
    return { error }
  }
  componentDidCatch(error) {
    console.error(error)
  }
  render() {
    return this.state.error ? html`<${ErrorNote} error=${{ status: 'INTERNAL', message: String(this.state.error) }} onAgain=${() => this.setState({ error: null })} />` : this.props.children
  }
}

function pageOf(path) {
  for (const [template, page] of PAGES) {
    const found = template === path || (template === '/' ? path === '/' && {} : match(template, path))
    if (found) return { page, params: found === true ? {} : found, key: path }
  }
  return null
}

function Ways() {
  const { path } = route.value
  const at = path === '/' ? 'ask' : path.split('/')[1]
  return html`<nav class="ways" aria-label=${t('nav')}><ul>${WAYS.map(one => html`<li key=${one}><a href=${'/' + one} aria-current=${at === one ? 'page' : undefined}><${Icon} name=${one} /><span>${t('nav.' + one)}</span></a></li>`)}</ul></nav>`
}

// What this user typed and asked stays in no browser that others may use.
async function signOut() {
  await remove('/v1/session').catch(() => {})
  forgetTexts()
  touch('')
  await loadSession().catch(() => location.reload())
}

function Frame() {
  const held = session.value
  const [menu, setMenu] = useState(false)
  const { path } = route.value
  useEffect(() => setMenu(false), [path])
  const found = pageOf(path.replace(/(.)\/$/, '$1'))
  return html`<a class="skip" href="#main" onClick=${event => { event.preventDefault(); document.querySelector('h1')?.focus() }}>${t('skip')}</a>
    <header class=${'bar' + (menu ? ' open' : '')}><div class="bar-top"><a class="brand" href="/"><span class="brand-mark" aria-hidden="true"></span>Renga</a>
        <button type="button" class="button ghost square menu-button" aria-label=${t('nav')} aria-expanded=${menu ? 'true' : 'false'} onClick=${() => setMenu(!menu)}><${Icon} name=${menu ? 'cross' : 'menu'} /></button></div>
      <${Ways} />
      <div class="bar-foot">
        ${(held.client || held.tenant) && html`<p class="who faint" dir="auto">${[held.client, held.tenant].filter(Boolean).join(' · ')}</p>`}
        <div class="actions"><${Button} kind="ghost small" aria-label=${t('lang.other')} onClick=${() => setLang(lang.value === 'ja' ? 'en' : 'ja')}><span lang=${lang.value === 'ja' ? 'en' : 'ja'}>${lang.value === 'ja' ? 'English' : '日本語'}</span><//>
          <button type="button" class="button ghost square" aria-label=${t(scheme.value === 'dark' ? 'scheme.light' : 'scheme.dark')} onClick=${toggleScheme}><${Icon} name=${scheme.value === 'dark' ? 'sun' : 'moon'} /></button>
          ${held.needsKey && html`<button type="button" class="button ghost square" aria-label=${t('sign_out')} onClick=${signOut}><${Icon} name="out" /></button>`}</div></div></header>
    <main id="main"><${Guard} key=${found?.key ?? path}>${found ? html`<${found.page} ...${found.params} />` : html`<${Page} title=${t('lost.title')}><${Empty}>${t('lost.help')} <a href="/">${t('lost.home')}</a><//><//>`}<//></main>`
}

function App() {
  const [error, setError] = useState(null)
  const load = () => loadSession().then(() => setError(null), setError)
  useEffect(() => { load() }, [])
  useEffect(() => { // a server that is not there yet is asked again
    if (!error || session.value) return undefined
    const timer = setTimeout(load, 2000)
    return () => clearTimeout(timer)
  }, [error])
  useEffect(() => onTouched(runId => !runId && session.value?.needsKey && loadSession().catch(() => {})), []) // signed out in another tab
  lang.value
  if (!session.value) return html`<main class="sign-in">${error ? html`<h1 class="visually-hidden">Renga</h1><${ErrorNote} error=${error} onAgain=${load} />` : html`<${Loading} />`}</main>`
  return session.value.signedIn || !session.value.needsKey ? html`<${Frame} />` : html`<${SignIn} />`
}

effect(() => { document.documentElement.lang = lang.value })
render(html`<${App} />`, document.getElementById('app'))

// Research: deep (cycles of queries and notes) and autonomous (a supervisor, and a person who may decide).
import { seg } from '../base/api.js'
import { html, useState } from '../base/html.js'
import { draft } from '../base/kept.js'
import { navigate, route, setFields } from '../base/router.js'
import { startTyped } from '../base/typed_stream.js'
import { t } from '../base/words.js'
import { Button, Card, ErrorNote, Field, Note, Page, Tabs } from '../parts/basics.js'
import { CollectionPicker } from '../parts/collections.js'
import { Recent } from './ask.js'

export const KINDS = {
  deep: { kind: 'researched', agent: 'deep_research', path: '/v1/deepResearch:researchStream' },
  autonomous: { kind: 'studied', agent: 'autonomous_research', path: '/v1/autonomousResearch:researchStream' },
}

export function Research() {
  const mode = route.value.fields.get('mode') === 'autonomous' ? 'autonomous' : 'deep'
  const [text, setText] = useState(draft.get('research'))
  const [collections, setCollections] = useState([]), [web, setWeb] = useState(false)
  const [human, setHuman] = useState(true), [steps, setSteps] = useState(mode === 'deep' ? 3 : 6)
  const [busy, setBusy] = useState(false), [error, setError] = useState(null), [link, setLink] = useState('')
  const begin = async () => {
    if (!text.trim() || busy) return
    setBusy(true)
    setError(null)
    const { kind, path } = KINDS[mode]
    const sources = web ? ['DEEP_RESEARCH_SOURCE_INTERNAL', 'DEEP_RESEARCH_SOURCE_WEB'] : ['DEEP_RESEARCH_SOURCE_INTERNAL']
    const fields = mode === 'deep' ? { question: text, maxCycles: Math.min(3, steps), sources, collections }
      : { theme: text, maxIterations: steps, humanIntervention: human, sources, collections }
    try {
      const { runId } = await startTyped(kind, path, fields, text, setLink)
      draft.set('research', '')
      navigate(`/research/${mode}/${seg(runId)}`)
    } catch (wrong) {
      setError(wrong)
      setBusy(false)
    }
  }
  return html`<${Page} title=${t('research.title')} lead=${t('research.lead')}>
    <${Tabs} label=${t('research.mode')} value=${mode} onChange=${id => { setFields({ mode: id === 'deep' ? '' : id }); setSteps(id === 'deep' ? 3 : 6) }}
      tabs=${[{ id: 'deep', label: t('research.deep') }, { id: 'autonomous', label: t('research.autonomous') }]} />
    <${Card} kind="composer"><p class="faint">${t('research.about_' + mode)}</p>
      <label for="theme" class="visually-hidden">${t('research.theme')}</label>
      <textarea id="theme" rows="3" dir="auto" maxlength="10000" placeholder=${t('research.placeholder')} value=${text} onInput=${event => { setText(event.currentTarget.value); draft.set('research', event.currentTarget.value) }}></textarea>
      <div class="row-fields"><${Field} id="steps" label=${t(mode === 'deep' ? 'research.cycles' : 'research.steps')}><input id="steps" type="number" min="1" max=${mode === 'deep' ? 3 : 100} value=${steps}
          onInput=${event => setSteps(Math.max(1, Number(event.currentTarget.value) || 1))} /><//>
        <label class="choice"><input type="checkbox" checked=${web} onChange=${() => setWeb(!web)} /> ${t('research.web')}</label>
        ${mode === 'autonomous' && html`<label class="choice"><input type="checkbox" checked=${human} onChange=${() => setHuman(!human)} /> ${t('research.human')}</label>`}</div>
      <${CollectionPicker} value=${collections} onChange=${setCollections} />
      <div class="actions end"><${Button} kind="primary" icon="research" busy=${busy} onClick=${begin}>${t('research.begin')}<//></div><//>
    ${busy && link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.wait')}<//>`}
    <${ErrorNote} error=${error} />
    <${Recent} key=${mode} agent=${KINDS[mode].agent} path=${'/research/' + mode} title=${t('research.recent')} />
  <//>`
}

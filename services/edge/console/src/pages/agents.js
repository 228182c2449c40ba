// Agents: those that are there, the documents that could not be loaded, and one agent with its graph and versions.
import { get, newId, parseJson, post, seg } from '../base/api.js'
import { count, sorted } from '../base/format.js'
import { html, useMemo, useState } from '../base/html.js'
import { navigate, route, setFields } from '../base/router.js'
import { t } from '../base/words.js'
import { Button, Card, CopyButton, Dialog, Empty, ErrorNote, Facts, Loading, Page, Tabs, Time, useFresh, useLoad } from '../parts/basics.js'
import { Graph, GraphTable } from '../parts/graph.js'
import { Icon } from '../parts/icons.js'
import { JsonView } from '../parts/json_view.js'
import { documentsOf } from '../parts/scene.js'
import { AnswerEditor, initialOf } from '../parts/schema_form.js'

const Problem = ({ one }) => html`<li class="problem"><${Icon} name="warn" size="16" /><div><strong>${one.agent}/${one.file}${one.line ? `:${one.line}${one.column ? ':' + one.column : ''}` : ''}</strong><p dir="auto">${one.message}</p></div></li>`

export function Agents() {
  const { value, error, again } = useLoad(() => get('/v1/agents'), [])
  useFresh(again, true, 5000) // documents are loaded anew when they change
  return html`<${Page} title=${t('agents.title')} lead=${t('agents.lead')}>
    <${ErrorNote} error=${error} onAgain=${again} />
    ${!value && !error && html`<${Loading} />`}
    ${value?.problems?.length > 0 && html`<${Card} title=${t('agents.problems', { n: value.problems.length })} kind="bad"><ul class="problems">${value.problems.map((one, i) => html`<${Problem} key=${i} one=${one} />`)}</ul><//>`}
    ${value && (value.agents.length ? html`<ul class="tiles">${value.agents.map(one => html`<li key=${one.name}><a class="tile" href=${'/agents/' + seg(one.name)}><h2>${one.name}</h2><p dir="auto">${one.description}</p>
      <p class="faint"><code>${one.graphVersion.slice(0, 10)}</code> · <${Time} ms=${one.loadedMs} /></p></a></li>`)}</ul>` : html`<${Empty} icon="agents">${t('agents.none')}<//>`)}
  <//>`
}

function StartDialog({ agent, schema, version, onClose }) {
  const [value, setValue] = useState(() => initialOf(schema) ?? {}), [valid, setValid] = useState(true), [busy, setBusy] = useState(false), [error, setError] = useState(null)
  const begin = async () => {
    setBusy(true)
    try {
      const { run } = await post('/v1/runs', { requestId: newId(), agent, graphVersion: version, inputJson: JSON.stringify(value ?? {}) })
      navigate('/runs/' + seg(run.runId))
    } catch (wrong) {
      setError(wrong)
      setBusy(false)
    }
  }
  return html`<${Dialog} title=${t('agents.start', { name: agent })} onClose=${onClose} wide>
    <${AnswerEditor} schema=${schema} value=${value} onChange=${(next, good = true) => { setValue(next); setValid(good) }} />
    <${ErrorNote} error=${error} />
    <div class="actions end"><${Button} kind="primary" icon="play" busy=${busy} disabled=${busy || !valid} onClick=${begin}>${t('agents.begin')}<//></div><//>`
}

const same = (a, b) => a.name === b.name

// The texts of the prompts, by name, each in its languages.
function PromptTexts({ name, version }) {
  const { value, error, again } = useLoad(() => get('/v1/agents/' + seg(name), { graphVersion: version, withPrompts: true }), [name, version])
  const prompts = useMemo(() => {
    const list = sorted(value?.prompts ?? [], one => one.name)
    return list.filter((one, i) => !i || !same(one, list[i - 1])).map(first => ({ name: first.name, texts: list.filter(one => same(one, first)) }))
  }, [value])
  if (error) return html`<${ErrorNote} error=${error} onAgain=${again} />`
  if (!value) return html`<${Loading} />`
  return prompts.map(one => html`<details class="prompt" key=${one.name} data-prompt=${one.name}><summary><code>${one.name}</code> <span class="faint">${one.texts.map(text => text.language).join(', ')}</span></summary>
    ${one.texts.map(text => html`<div key=${text.language}><p class="faint">${text.language} <${CopyButton} text=${text.text} /></p><pre dir="auto" lang=${text.language} tabindex="0">${text.text}</pre></div>`)}</details>`)
}

function Prompts({ documents }) {
  const rows = useMemo(() => [...documents.all].flatMap(([graph, document]) => Object.entries(document.nodes ?? {}).flatMap(([node, one]) =>
    ['system', 'prompt', 'retry_prompt', 'remaining_prompt', 'headings', 'references', 'mark', 'missing'].filter(name => typeof one[name] === 'string' && !one[name].includes(' ')).map(name => ({ graph, node, role: name, prompt: one[name] })))), [documents])
  if (!rows.length) return html`<p class="faint">${t('agents.no_prompts')}</p>`
  return html`<p class="faint">${t('agents.prompts_help')}</p><div class="scroll" tabindex="0" role="region" aria-label=${t('agents.prompts')}><table><thead><tr><th scope="col">${t('graph')}</th><th scope="col">${t('node')}</th><th scope="col">${t('agents.role')}</th><th scope="col">${t('agents.prompt')}</th></tr></thead>
    <tbody>${rows.map((one, i) => html`<tr key=${i}><td class="faint">${one.graph}</td><td>${one.node}</td><td class="faint">${one.role}</td><td><code>${one.prompt}</code></td></tr>`)}</tbody></table></div>`
}

export function Agent({ name }) {
  const { fields } = route.value
  const tab = fields.get('tab') || 'graph', version = fields.get('version') || ''
  const { value, error, again } = useLoad(() => get('/v1/agents/' + seg(name), { graphVersion: version }), [name, version])
  const { value: list } = useLoad(() => get('/v1/agents'), [name])
  const documents = useMemo(() => (value ? documentsOf(value) : null), [value])
  const [chosen, setChosen] = useState(''), [starting, setStarting] = useState(false)
  const problems = list?.problems?.filter(one => one.agent === name) ?? []
  const own = value?.graphs?.[0]
  let definition = null
  if (chosen && documents) {
    let place = documents.root
    for (const part of chosen.split('/')) {
      definition = documents.all.get(place)?.nodes?.[part]
      place = definition?.graph
    }
  }
  return html`<${Page} wide title=${name} lead=${value?.agent?.description} actions=${html`<${Button} kind="primary" icon="play" disabled=${!value} onClick=${() => setStarting(true)}>${t('agents.run')}<//>
      <a class="button" href=${'/runs?agent=' + seg(name)}><${Icon} name="runs" /><span>${t('runs.title')}</span></a>`}>
    <${ErrorNote} error=${error} onAgain=${again} />
    ${problems.length > 0 && html`<${Card} title=${t('agents.problems', { n: problems.length })} kind="bad"><ul class="problems">${problems.map((one, i) => html`<${Problem} key=${i} one=${one} />`)}</ul><//>`}
    ${!value && !error && html`<${Loading} />`}
    ${value && html`<${Tabs} label=${name} value=${tab} onChange=${id => setFields({ tab: id === 'graph' ? '' : id })} tabs=${[{ id: 'graph', label: t('graph') }, { id: 'schema', label: t('agents.schema') }, { id: 'prompts', label: t('agents.prompts') }, { id: 'versions', label: t('agents.versions'), count: value.versions.length }, { id: 'document', label: t('agents.document') }]} />
      <div role="tabpanel" aria-label=${name}>
      ${tab === 'graph' && html`<div class=${'columns graph-columns' + (definition ? '' : ' alone')}><${Card} kind="flush"><${Graph} documents=${documents} chosen=${chosen} onChoose=${key => setChosen(key === chosen ? '' : key)} label=${t('graph.of', { name })} /><//>
        ${definition && html`<div class="side"><${Card} title=${chosen} level=${3}><${JsonView} value=${definition} name=${chosen} /><//></div>`}</div>
        <details class="card"><summary>${t('graph.table')}</summary><${GraphTable} documents=${documents} chosen=${chosen} onChoose=${setChosen} /></details>`}
      ${tab === 'schema' && html`<div class="tiles">${[['agents.input', own.inputSchemaJson], ['agents.state', own.stateSchemaJson], ['agents.output', own.outputSchemaJson]].map(([id, text]) => html`<${Card} key=${id} title=${t(id)} level=${3}><${JsonView} value=${parseJson(text, {})} name=${id} /><//>`)}</div>`}
      ${tab === 'prompts' && html`<${Card}><${Prompts} documents=${documents} /><//><${Card} title=${t('agents.prompt_texts')} level=${3}><${PromptTexts} name=${name} version=${version} /><//>`}
      ${tab === 'versions' && html`<${Card}><div class="scroll" tabindex="0" role="region" aria-label=${t('agents.versions')}><table><thead><tr><th scope="col">${t('agents.version')}</th><th scope="col">${t('agents.loaded')}</th><th scope="col" class="number">${t('agents.open_runs')}</th></tr></thead>
        <tbody>${value.versions.map(one => html`<tr key=${one.graphVersion}><td><a href=${`/agents/${seg(name)}?version=${one.graphVersion}`}><code>${one.graphVersion.slice(0, 16)}</code></a> ${one.current ? html`<span class="tag good">${t('agents.current')}</span>` : ''}</td><td><${Time} ms=${one.loadedMs} /></td><td class="number">${count(one.openRuns)}</td></tr>`)}</tbody></table></div><//>`}
      ${tab === 'document' && value.graphs.map(one => html`<${Card} key=${one.name} title=${one.name} level=${3} actions=${html`<${CopyButton} text=${one.documentJson} />`}><${JsonView} value=${parseJson(one.documentJson, {})} name=${one.name} tools=${false} /><//>`)}
      </div>
      <${Facts} rows=${[[t('agents.version'), value.agent.graphVersion], [t('agents.loaded'), html`<${Time} ms=${value.agent.loadedMs} />`]]} />`}
    ${starting && html`<${StartDialog} agent=${name} version=${version} schema=${parseJson(own?.inputSchemaJson, {})} onClose=${() => setStarting(false)} />`}
  <//>`
}

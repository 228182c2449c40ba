// Time travel: begin again at a checkpoint, with the state as it was or changed, on the same thread or on a new one.
import { get, newId, parseJson, post, seg } from '../base/api.js'
import { html, useMemo, useState } from '../base/html.js'
import { navigate } from '../base/router.js'
import { touch } from '../base/shared_stream.js'
import { t } from '../base/words.js'
import { bare, Button, Dialog, ErrorNote, Loading, Note, useLoad } from '../parts/basics.js'
import { JsonText } from '../parts/schema_form.js'

// Nodes that may follow those that run again, as the graph's arrows lead.
function behind(documents, first) {
  const nodes = documents?.all.get(documents.root)?.nodes ?? {}
  const seen = new Set(), queue = [...first]
  while (queue.length) {
    const node = nodes[queue.shift()] ?? {}
    for (const to of [...Object.values(node.on ?? {}).flat(), ...[node.may_reach ?? []].flat(), node.visits?.then])
      if (to in nodes && !seen.has(to) && !first.includes(to)) {
        seen.add(to)
        queue.push(to)
      }
  }
  return [...seen]
}

export function ForkDialog({ run, checkpoint, documents, onClose }) {
  const path = `/v1/threads/${seg(run.threadId)}/state`
  const { value, error } = useLoad(() => get(path, { checkpointId: checkpoint.checkpointId }), [checkpoint.checkpointId])
  const state = useMemo(() => (value ? parseJson(value.stateJson, {}) : null), [value])
  const [changes, setChanges] = useState({}), [broken, setBroken] = useState({}), [asNode, setAsNode] = useState(''), [outcome, setOutcome] = useState('')
  const [elsewhere, setElsewhere] = useState(['QUEUED', 'RUNNING'].includes(bare(run.state))), // its thread is busy
    [busy, setBusy] = useState(false), [wrong, setWrong] = useState(null)
  const root = documents?.all.get(documents.root) ?? {}
  const fields = Object.keys(root.state ?? state ?? {})
  const outcomes = Object.keys(root.nodes?.[asNode]?.on ?? {})
  const first = asNode ? [root.nodes?.[asNode]?.on?.[outcome || outcomes[0]]].flat().filter(one => one && one !== 'end') : checkpoint.nextNodes
  const then = behind(documents, first)
  const begin = async () => {
    setBusy(true)
    setWrong(null)
    try {
      let threadId = run.threadId, checkpointId = checkpoint.checkpointId
      if (elsewhere) {
        const { thread } = await post(`/v1/threads/${seg(threadId)}:fork`, { requestId: newId(), checkpointId })
        threadId = thread.threadId
        checkpointId = thread.checkpointId
      }
      if (Object.keys(changes).length || asNode) {
        const body = { requestId: newId(), checkpointId, updateJson: JSON.stringify(changes), overwriteFields: Object.keys(changes), ...(asNode ? { asNode, outcome } : {}) }
        checkpointId = (await post(`/v1/threads/${seg(threadId)}/state`, body)).checkpoint.checkpointId
      }
      const { run: next } = await post('/v1/runs', { requestId: newId(), agent: run.agent, graphVersion: run.graphVersion, threadId, checkpointId,
        labels: { ...(run.labels?.title ? { title: run.labels.title } : {}), forked_from: run.runId } })
      touch(next.runId)
      onClose()
      navigate('/runs/' + seg(next.runId))
    } catch (why) {
      setWrong(why)
      setBusy(false)
    }
  }
  const set = name => (next, good = true) => {
    setBroken({ ...broken, [name]: !good })
    if (good && next !== undefined) setChanges({ ...changes, [name]: next })
  }
  const drop = name => {
    const next = { ...changes }
    delete next[name]
    setChanges(next)
    setBroken({ ...broken, [name]: false })
  }
  return html`<${Dialog} title=${t('fork.title')} onClose=${onClose} wide>
    <p>${t('fork.help')}</p>
    <${ErrorNote} error=${error} />
    ${!state && !error && html`<${Loading} />`}
    ${state && html`<div class="field"><label for="fork-field">${t('fork.change')}</label><select id="fork-field" onChange=${event => { const name = event.currentTarget.value; if (name) set(name)(state[name] ?? null); event.currentTarget.value = '' }}>
        <option value=""></option>${fields.filter(name => !(name in changes)).map(name => html`<option value=${name}>${name}</option>`)}</select></div>
      ${Object.keys(changes).map(name => html`<div class="field" key=${name}><label for=${'fork-' + name}>${name} <button type="button" class="link" onClick=${() => drop(name)}>${t('fork.keep')}</button></label>
        <${JsonText} id=${'fork-' + name} value=${state[name] ?? null} onChange=${set(name)} /></div>`)}
      <div class="row-fields"><div class="field"><label for="fork-as">${t('fork.as_node')}</label><select id="fork-as" onChange=${event => { setAsNode(event.currentTarget.value); setOutcome('') }}><option value="">${t('fork.as_is')}</option>
        ${Object.keys(root.nodes ?? {}).map(name => html`<option value=${name} selected=${asNode === name}>${name}</option>`)}</select></div>
        ${asNode && outcomes.length > 1 && html`<div class="field"><label for="fork-outcome">${t('outcome')}</label><select id="fork-outcome" onChange=${event => setOutcome(event.currentTarget.value)}>${outcomes.map(one => html`<option value=${one} selected=${one === (outcome || outcomes[0])}>${one}</option>`)}</select></div>`}</div>
      <label class="choice"><input type="checkbox" checked=${elsewhere} onChange=${() => setElsewhere(!elsewhere)} /> ${t('fork.new_thread')}</label>
      <${Note} icon="again">${first.length ? html`${t('fork.runs')} ${first.map(node => html`<code>${node}</code> `)}${then.length > 0 && html`<br />${t('fork.then')} <span class="faint">${then.join(', ')}</span>`}` : t('fork.nothing')}<//>
      <${ErrorNote} error=${wrong} />
      <div class="actions end"><${Button} kind="primary" icon="fork" busy=${busy} disabled=${busy || !first.length || Object.values(broken).some(Boolean)} onClick=${begin}>${t('fork.begin')}<//></div>`}
  <//>`
}

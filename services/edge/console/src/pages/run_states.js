// The states of a run's thread: a tree of checkpoints, what changed at each, and time travel from any of them.
import { get, parseJson, seg } from '../base/api.js'
import { changesOf, lanesOf } from '../base/changes.js'
import { clock, time } from '../base/format.js'
import { html, useEffect, useMemo, useRef, useState } from '../base/html.js'
import { route, setFields } from '../base/router.js'
import { t, word } from '../base/words.js'
import { Button, Card, ErrorNote, Loading, Note, useLoad } from '../parts/basics.js'
import { JsonView } from '../parts/json_view.js'
import { VirtualList } from '../parts/virtual.js'
import { Branches } from './run_branches.js'
import { ForkDialog } from './run_fork.js'

const ROW = 56, LANE = 14

function Lanes({ lanes, chosen }) {
  const x = lane => 10 + Math.min(lane, 6) * LANE
  return html`<svg class="lanes" width="100" height=${ROW} aria-hidden="true">
    ${lanes.through.filter(lane => lane !== lanes.lane).map(lane => html`<path key=${lane} class=${'l' + lane % 4} d=${`M${x(lane)} 0V${ROW}`} />`)}
    ${lanes.joins.map(lane => html`<path key=${'j' + lane} class=${'l' + lane % 4} d=${lane === lanes.lane ? `M${x(lane)} 0V${ROW / 2}` : `M${x(lane)} 0C${x(lane)} ${ROW / 3} ${x(lanes.lane)} ${ROW / 4} ${x(lanes.lane)} ${ROW / 2}`} />`)}
    ${lanes.to >= 0 && html`<path class=${'l' + lanes.to % 4} d=${lanes.to === lanes.lane ? `M${x(lanes.lane)} ${ROW / 2}V${ROW}` : `M${x(lanes.lane)} ${ROW / 2}C${x(lanes.lane)} ${ROW * 0.8} ${x(lanes.to)} ${ROW * 0.7} ${x(lanes.to)} ${ROW}`} />`}
    ${lanes.bend >= 0 && html`<path class=${'l' + lanes.bend % 4} d=${`M${x(lanes.bend)} 0V${ROW / 2}C${x(lanes.bend)} ${ROW * 0.8} ${x(lanes.lane)} ${ROW * 0.7} ${x(lanes.lane)} ${ROW}`} />`}
    <circle class=${'l' + lanes.lane % 4 + (chosen ? ' chosen' : '')} cx=${x(lanes.lane)} cy=${ROW / 2} r=${chosen ? 6 : 4.5} /></svg>`
}

export const whatMade = one => (one.cause === 'CHECKPOINT_CAUSE_STEP' ? one.nodes.join(', ') || t('checkpoint.step', { n: one.step }) : word('checkpoint_cause', one.cause))

export function Change({ change, labels = ['change.before', 'change.after'] }) {
  return html`<div class="change" data-field=${change.name}><h4>${change.name} <span class="faint">${t('change.' + change.kind, { n: change.added?.length ?? 0 })}</span></h4>
    ${change.kind === 'grown' ? html`<div class="diff is"><${JsonView} value=${change.added} name=${change.name} tools=${false} /></div>`
      : html`<div class="diff-pair">${change.kind !== 'new' && html`<div class="diff was"><span class="diff-label">${t(labels[0])}</span><${JsonView} value=${change.was} tools=${false} /></div>`}
        ${change.kind !== 'gone' && html`<div class="diff is"><span class="diff-label">${t(labels[1])}</span><${JsonView} value=${change.is} tools=${false} /></div>`}</div>`}</div>`
}

function Detail({ run, one, parent, base, onBase, all, onFork }) {
  const thread = '/v1/threads/' + seg(run.threadId) + '/state'
  const against = base || one.parentCheckpointId
  const { value, error, again } = useLoad(async () => {
    const fields = base ? undefined : one.changedFields.length ? one.changedFields : undefined
    const [is, was] = await Promise.all([get(thread, { checkpointId: one.checkpointId, fields }),
      against ? get(thread, { checkpointId: against, fields }).catch(() => null) : null])
    return { is: parseJson(is.stateJson, {}), was: parseJson(was?.stateJson, {}), due: is.due }
  }, [one.checkpointId, against])
  const [whole, setWhole] = useState(null), [wrong, setWrong] = useState(null)
  useEffect(() => setWhole(null), [one.checkpointId])
  const changes = value ? changesOf(value.was, value.is) : []
  return html`<${Card} title=${whatMade(one)} level=${3} actions=${html`<${Button} kind="primary small" icon="fork" onClick=${() => onFork(one)}>${t('fork.here')}<//>`}>
    <p class="faint">${time(one.createdMs)} · <code>${one.checkpointId}</code></p>
    <p>${one.nextNodes.length ? t('checkpoint.next') : t('checkpoint.end')} ${one.nextNodes.map(node => html`<code key=${node}>${node}</code> `)}</p>
    <div class="field"><label for="base">${t('change.against')}</label><select id="base" onChange=${event => onBase(event.currentTarget.value)}><option value="" selected=${!base}>${t('change.parent')}</option>
      ${all.filter(other => other !== one).slice(0, 300).map(other => html`<option value=${other.checkpointId} selected=${base === other.checkpointId}>${clock(other.createdMs)} · ${whatMade(other)} · ${other.runId.slice(-8)}</option>`)}</select></div>
    <${ErrorNote} error=${error} onAgain=${again} />
    ${!value && !error ? html`<${Loading} />` : changes.length ? changes.map(change => html`<${Change} key=${change.name} change=${change} />`) : html`<p class="faint">${t('change.none')}</p>`}
    ${whole ? html`<h4>${t('state.whole')}</h4><${JsonView} value=${whole} name=${'state-' + one.checkpointId} />` : html`<${Button} kind="small" onClick=${() => get(thread, { checkpointId: one.checkpointId }).then(state => setWhole(parseJson(state.stateJson, {})), setWrong)}>${t('state.show')}<//>`}<${ErrorNote} error=${wrong} /><//>`
}

export function States({ run, model, documents, before }) {
  const [mine, setMine] = useState(false), [pages, setPages] = useState(1)
  model.version.value
  const { value, error, again } = useLoad(async () => {
    const all = []
    let token = ''
    for (let page = 0; page < pages; page++) {
      const next = await get(`/v1/threads/${seg(run.threadId)}/checkpoints`, { pageSize: 500, pageToken: token, runId: mine ? run.runId : '' })
      all.push(...next.checkpoints)
      token = next.nextPageToken
      if (!token) break
    }
    return { all, more: !!token }
  }, [run.threadId, mine, pages])
  const latest = useRef(again), due = useRef(0)
  latest.current = again
  useEffect(() => { // of a run that makes many checkpoints, the list is read again at most each second
    due.current ||= setTimeout(() => {
      due.current = 0
      latest.current()
    }, 1000)
  }, [model.checkpoints, run.checkpointId])
  useEffect(() => () => clearTimeout(due.current), [])
  const all = value?.all ?? []
  const lanes = useMemo(() => lanesOf(all), [all])
  const { fields } = route.value
  const [base, setBase] = useState('')
  const first = before ? all.find(one => one.runId === run.runId && one.nextNodes.includes(before)) : null
  const chosenId = fields.get('checkpoint') || first?.checkpointId || all.find(one => one.runId === run.runId)?.checkpointId || all[0]?.checkpointId
  const chosen = all.find(one => one.checkpointId === chosenId)
  const [fork, setFork] = useState(null)
  useEffect(() => {
    if (before && value && !first && value.more) setPages(pages + 1) // it is on an older page
    if (before && first) {
      setFork(first)
      setFields({ before: '', checkpoint: first.checkpointId })
    }
  }, [before, first, value])
  const runs = [...new Set(all.map(one => one.runId).filter(Boolean))]
  if (fields.get('compare')) return html`<${Branches} run=${run} otherId=${fields.get('compare')} />`
  if (!value) return error ? html`<${ErrorNote} error=${error} onAgain=${again} />` : html`<${Loading} />`
  return html`${before && !first && !value.more && html`<${Note} kind="warn" icon="warn">${t('fork.none', { node: before })}<//>`}
    <div class="columns states"><div class="side wide"><${Card} title=${t('run.checkpoints')} level=${3} kind="flush" actions=${runs.length > 1 || mine ? html`<label class="choice"><input type="checkbox" checked=${mine} onChange=${() => setMine(!mine)} /> ${t('run.only_own')}</label>` : ''}>
      <${VirtualList} items=${all} height=${ROW} max=${600} keyOf=${one => one.checkpointId} label=${t('run.checkpoints')} onEnd=${() => value.more && setPages(pages + 1)} row=${(one, i) => html`
        <button type="button" class=${'checkpoint' + (one === chosen ? ' chosen' : '') + (one.runId === run.runId ? '' : ' other')} aria-pressed=${one === chosen ? 'true' : 'false'} data-checkpoint=${one.checkpointId} onClick=${() => { setBase(''); setFields({ checkpoint: one.checkpointId }) }}>
          <${Lanes} lanes=${lanes[i]} chosen=${one === chosen} /><span class="checkpoint-text"><span class="checkpoint-name">${whatMade(one)}</span>
          <span class="faint">${clock(one.createdMs)} · ${one.runId === run.runId ? t('run.this') : one.runId ? one.runId.slice(-8) : t('run.by_hand')}${one.changedFields.length ? ' · ' + t('checkpoint.fields', { n: one.changedFields.length }) : ''}</span></span></button>`} /><//>
      ${runs.length > 1 && html`<${Card} title=${t('run.branches')} level=${3}><ul class="rows">${runs.map(id => html`<li key=${id}><a href=${`/runs/${seg(id)}?tab=state`}><span class="row-main"><code>${id}</code></span>${id === run.runId ? html`<span class="tag quiet">${t('run.this')}</span>` : ''}</a>${id === run.runId ? '' : html`<${Button} kind="small" onClick=${() => setFields({ compare: id })}>${t('branches.compare')}<//>`}</li>`)}</ul><//>`}
    </div>
    <div>${chosen ? html`<${Detail} run=${run} one=${chosen} base=${base} onBase=${setBase} all=${all} onFork=${setFork} />` : html`<p class="faint">${t('state.none')}</p>`}</div>
    ${fork && html`<${ForkDialog} run=${run} checkpoint=${fork} documents=${documents} onClose=${() => setFork(null)} />`}</div>`
}

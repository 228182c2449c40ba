// Two branches side by side: what ran in each, and how their states differ.
import { get, parseJson, seg } from '../base/api.js'
import { changesOf } from '../base/changes.js'
import { html } from '../base/html.js'
import { setFields } from '../base/router.js'
import { t } from '../base/words.js'
import { Button, Card, ErrorNote, Loading, StateTag, Time, useLoad } from '../parts/basics.js'
import { Change, whatMade } from './run_states.js'

const STEPS_MAX = 100

async function branchOf(run) {
  const thread = '/v1/threads/' + seg(run.threadId)
  const [steps, state] = await Promise.all([get(thread + '/checkpoints', { runId: run.runId, pageSize: STEPS_MAX }),
    run.checkpointId ? get(thread + '/state', { checkpointId: run.checkpointId }) : { stateJson: '{}' }])
  return { run, steps: [...steps.checkpoints].reverse(), more: !!steps.nextPageToken, state: parseJson(state.stateJson, {}) }
}

const Branch = ({ branch, label }) => html`<${Card} title=${t(label)} level=${3}><p><a href=${'/runs/' + seg(branch.run.runId)}><code>${branch.run.runId}</code></a></p>
  <p><${StateTag} state=${branch.run.state} /> <${Time} ms=${branch.run.createdMs} /></p>
  ${branch.more && html`<p class="faint">${t('branches.last', { n: STEPS_MAX })}</p>`}
  <ol class="branch-steps">${branch.steps.map(one => html`<li key=${one.checkpointId}>${whatMade(one)}</li>`)}</ol><//>`

export function Branches({ run, otherId }) {
  const { value, error, again } = useLoad(async () => {
    const other = (await get('/v1/runs/' + seg(otherId))).run
    return Promise.all([branchOf(other), branchOf(run)])
  }, [otherId, run.runId, run.checkpointId, run.state])
  const back = html`<${Button} kind="small" onClick=${() => setFields({ compare: '' })}>${t('run.checkpoints')}<//>`
  if (!value) return error ? html`<${ErrorNote} error=${error} onAgain=${again} />${back}` : html`<${Loading} />`
  const [other, mine] = value, changes = changesOf(other.state, mine.state)
  return html`<div class="branches"><${Branch} branch=${other} label="branches.other" /><${Branch} branch=${mine} label="branches.this" /></div>
    <${Card} title=${t('branches.differences')} level=${3} actions=${back}>
      ${changes.length ? changes.map(change => html`<${Change} key=${change.name} change=${change.kind === 'grown' ? { ...change, kind: 'changed' } : change} labels=${['branches.other', 'branches.this']} />`) : html`<p class="faint">${t('branches.same')}</p>`}<//>`
}

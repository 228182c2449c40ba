// What "Resume" does to a run that stopped: the nodes that run again, and those whose results are kept.
import { get, seg } from '../base/api.js'
import { html } from '../base/html.js'
import { genericPath } from '../base/run_model.js'
import { t } from '../base/words.js'
import { Note, useLoad } from '../parts/basics.js'

const SHOWN = 12

// Names of nodes, with a count for branches of the same node.
function dueNames(due, finished) {
  const names = new Map()
  for (const one of due) {
    if ((one.state === 'DUE_NODE_STATE_FINISHED') !== finished) continue
    const name = genericPath([one.path, one.node].filter(Boolean).join('/'))
    names.set(name, (names.get(name) ?? 0) + 1)
  }
  return [...names].slice(0, SHOWN).map(([name, n]) => (n > 1 ? `${name} × ${n}` : name)).join(', ') + (names.size > SHOWN ? ', …' : '')
}

export function ResumeNote({ run }) {
  const { value } = useLoad(() => get(`/v1/threads/${seg(run.threadId)}/state`), [run.runId, run.updatedMs])
  if (!value) return null
  if (value.runId !== run.runId) return html`<${Note} icon="again">${t('resume.over')}<//>`
  const again = dueNames(value.due, false), kept = dueNames(value.due, true)
  return again && html`<${Note} icon="again"><span class="resume-note">${t('resume.again')} <code>${again}</code></span>${kept && html`<br />${t('resume.kept')} <span class="faint">${kept}</span>`}<//>`
}

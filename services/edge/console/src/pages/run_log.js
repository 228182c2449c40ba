// The events of a run, the newest first.
import { count, instant } from '../base/format.js'
import { html, useMemo, useState } from '../base/html.js'
import { t, word } from '../base/words.js'
import { Button, Dialog } from '../parts/basics.js'
import { JsonView } from '../parts/json_view.js'
import { VirtualList } from '../parts/virtual.js'

const KINDS = ['started', 'stateChanged', 'nodeStarted', 'nodeFinished', 'nodeFailed', 'nodeRetried', 'updated', 'progressJson', 'interrupted', 'answered', 'checkpoint', 'stopped']
const kindOf = event => KINDS.find(kind => event[kind] !== undefined) ?? 'unknown'
const QUIET = ['nodeStarted', 'progressJson', 'updated']

function detail(event, kind) {
  const what = event[kind]
  if (kind === 'nodeFinished') return what.outcome
  if (kind === 'nodeFailed' || kind === 'nodeRetried') return what.message
  if (kind === 'updated') return what.fields?.join(', ')
  if (kind === 'stateChanged') return word('run_state', what.current)
  if (kind === 'checkpoint') return what.nodes?.join(', ')
  if (kind === 'interrupted') return what.question || what.kind
  if (kind === 'answered') return what.answerJson
  if (kind === 'stopped') return what.stopText
  if (kind === 'progressJson') return what
  return ''
}

export function RunLog({ model }) {
  model.version.value
  const [all, setAll] = useState(false), [frozen, setFrozen] = useState(null), [open, setOpen] = useState(null)
  const log = frozen ?? model.log
  const list = useMemo(() => (all ? [...log] : log.filter(event => !QUIET.includes(kindOf(event)))).reverse(), [all, log, log.length, frozen ? 0 : model.version.value])
  return html`<div class="actions"><label class="choice"><input type="checkbox" checked=${all} onChange=${() => setAll(!all)} /> ${t('log.all')}</label>
      <${Button} kind="small" icon=${frozen ? 'play' : 'stop'} onClick=${() => setFrozen(frozen ? null : [...model.log])}>${t(frozen ? 'log.go' : 'log.pause')}<//></div>
    <${VirtualList} items=${list} height=${34} max=${520} keyOf=${event => event.eventId + kindOf(event)} label=${t('run.events')} row=${event => {
      const kind = kindOf(event)
      return html`<button type="button" class=${'log-line ' + (kind === 'checkpoint' ? 'is-checkpoint' : kind)} onClick=${() => setOpen(event)}><span class="faint">${instant(event.timeMs)}</span><span class="log-kind">${t('event.' + kind)}</span>
        <span class="span-name">${event.path && html`<span class="span-path">${event.path}${event.node && '/'}</span>`}<span class="span-node">${event.node}</span></span><span class="log-text" dir="auto">${String(detail(event, kind) ?? '').slice(0, 200)}</span></button>`
    }} />
    ${model.dropped > 0 && html`<p class="faint">${t('log.dropped', { n: model.dropped, count: count(model.dropped) })}</p>`}
    ${open && html`<${Dialog} title=${t('event.' + kindOf(open))} onClose=${() => setOpen(null)} wide><${JsonView} value=${open} name=${'event-' + open.eventId} /><//>`}`
}

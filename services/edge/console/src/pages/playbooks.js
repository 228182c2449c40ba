// Playbooks: what agents have learnt, its history with each change, and the way back to an earlier revision.
import { get, newId, post, put, seg } from '../base/api.js'
import { count } from '../base/format.js'
import { html, useMemo, useState } from '../base/html.js'
import { setFields, route } from '../base/router.js'
import { t, word } from '../base/words.js'
import { Button, Card, Dialog, Empty, ErrorNote, Loading, Note, Page, Tabs, Time, useLoad } from '../parts/basics.js'

export function Playbooks() {
  const { value, error, again } = useLoad(() => get('/v1/playbooks', { pageSize: 1000 }), [])
  return html`<${Page} title=${t('playbooks.title')} lead=${t('playbooks.lead')}>
    <${ErrorNote} error=${error} onAgain=${again} />${!value && !error && html`<${Loading} />`}
    ${value && (value.playbooks.length ? html`<${Card}><ul class="rows">${value.playbooks.map(one => html`<li key=${one.dataset}><a href=${'/playbooks/' + seg(one.dataset)}><span class="row-main" dir="auto">${one.dataset}</span>
      ${one.damaged && html`<span class="tag bad">${t('playbooks.damaged')}</span>`}${one.proposals > 0 && html`<span class="tag wait">${t('playbooks.proposals', { n: one.proposals })}</span>`}
      <span class="faint">${t('playbooks.bullets', { n: one.bullets, count: count(one.bullets) })} · ${t('playbooks.revision', { n: one.revision })}</span><${Time} ms=${one.updatedMs} /></a></li>`)}</ul><//>`
      : html`<${Empty} icon="playbooks">${t('playbooks.none')}<//>`)}
  <//>`
}

const Bullet = ({ one }) => html`<li class="bullet"><p dir="auto">${one.content}</p><p class="faint"><code>${one.id}</code> · ${t('playbooks.helped', { n: one.helpful })} · ${t('playbooks.misled', { n: one.harmful })}${one.source ? ' · ' + one.source : ''}</p></li>`

function History({ dataset, revision, onRestored }) {
  const { value, error, again } = useLoad(() => get(`/v1/playbooks/${seg(dataset)}/changes`, { withBullets: true, pageSize: 50 }), [dataset, revision])
  const [asking, setAsking] = useState(null), [wrong, setWrong] = useState(null), [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    try {
      await post(`/v1/playbooks/${seg(dataset)}:restore`, { revision: asking, expectedRevision: revision, requestId: newId(), reason: t('playbooks.restored_here') })
      setAsking(null)
      onRestored()
    } catch (why) {
      setWrong(why)
    }
    setBusy(false)
  }
  if (error) return html`<${ErrorNote} error=${error} onAgain=${again} />`
  if (!value) return html`<${Loading} />`
  return html`<ol class="log-rows">${value.changes.map(one => html`<li key=${one.revision} class="history"><p><strong>${t('playbooks.revision', { n: one.revision })}</strong> <${Time} ms=${one.timeMs} />
      <span class="faint">${[one.client, one.source].filter(Boolean).join(' · ')}</span> ${one.added > 0 && html`<span class="tag good">+${count(one.added)}</span>`} ${one.changed > 0 && html`<span class="tag wait">~${count(one.changed)}</span>`} ${one.removed > 0 && html`<span class="tag bad">−${count(one.removed)}</span>`}</p>
    ${one.reason && html`<p dir="auto">${one.reason}</p>`}
    ${one.bullets.length > 0 && html`<details><summary>${t('playbooks.changed', { n: one.bullets.length })}</summary>${one.bullets.slice(0, 100).map((change, i) => html`<div key=${i} class="diff-pair">
      ${change.before && html`<div class="diff was" dir="auto">${change.before.content}<p class="faint">${change.before.helpful} / ${change.before.harmful}</p></div>`}${change.after && html`<div class="diff is" dir="auto">${change.after.content}<p class="faint">${change.after.helpful} / ${change.after.harmful}</p></div>`}</div>`)}</details>`}
    ${String(one.revision) !== String(revision) && html`<${Button} kind="small" icon="again" onClick=${() => setAsking(one.revision)}>${t('playbooks.restore')}<//>`}</li>`)}</ol>
    ${asking !== null && html`<${Dialog} title=${t('playbooks.restore')} onClose=${() => setAsking(null)}><p>${t('playbooks.restore_help', { n: asking })}</p><${ErrorNote} error=${wrong} />
      <div class="actions end"><${Button} kind="primary" busy=${busy} onClick=${restore}>${t('playbooks.restore')}<//></div><//>`}`
}

export function Playbook({ name }) {
  const { value, error, again } = useLoad(() => get('/v1/playbooks/' + seg(name)), [name])
  const tab = route.value.fields.get('tab') || 'bullets'
  const [find, setFind] = useState(''), [wrong, setWrong] = useState(null), [busy, setBusy] = useState(false)
  const sections = useMemo(() => {
    const all = new Map()
    for (const one of value?.bullets ?? []) {
      if (find && !one.content.toLowerCase().includes(find.toLowerCase()) && one.id !== find) continue
      if (!all.has(one.section)) all.set(one.section, [])
      all.get(one.section).push(one)
    }
    return [...all]
  }, [value, find])
  const decide = async (field, id) => {
    setBusy(true)
    setWrong(null)
    try {
      await put('/v1/playbooks/' + seg(name), { [field]: [id], expectedRevision: value.revision, requestId: newId() })
      again()
    } catch (why) {
      setWrong(why)
    }
    setBusy(false)
  }
  return html`<${Page} title=${name} lead=${value && `${t('playbooks.bullets', { n: value.bullets.length, count: count(value.bullets.length) })} · ${t('playbooks.revision', { n: value.revision })} · ${t('runs.tokens', { count: count(value.tokens) })}`}>
    <${ErrorNote} error=${error} onAgain=${again} /><${ErrorNote} error=${wrong} />${!value && !error && html`<${Loading} />`}
    ${value?.proposals?.length > 0 && html`<${Card} title=${t('playbooks.proposals', { n: value.proposals.length })} kind="ask-card">${value.proposals.slice(0, 50).map(one => html`<article key=${one.id} class="question"><p><span class="tag wait">${word('playbook_operation_kind', one.operation.kind)}</span> <span dir="auto">${one.operation.content}</span></p>
      <p class="faint" dir="auto">${one.reason}</p>${one.similarId && html`<blockquote dir="auto">${value.bullets.find(bullet => bullet.id === one.similarId)?.content ?? one.similarId}</blockquote>`}
      <div class="actions"><${Button} kind="primary small" busy=${busy} onClick=${() => decide('acceptProposals', one.id)}>${t('accept')}<//><${Button} kind="small" busy=${busy} onClick=${() => decide('rejectProposals', one.id)}>${t('reject')}<//></div></article>`)}<//>`}
    ${value && html`<${Tabs} label=${name} value=${tab} onChange=${id => setFields({ tab: id === 'bullets' ? '' : id })} tabs=${[{ id: 'bullets', label: t('playbooks.content') }, { id: 'history', label: t('playbooks.history') }]} />
      <div role="tabpanel" aria-label=${t('playbooks.content')}>${tab === 'history' ? html`<${Card}><${History} dataset=${name} revision=${value.revision} onRestored=${again} /><//>` : html`
        <div class="filters"><input type="search" aria-label=${t('playbooks.find')} placeholder=${t('playbooks.find')} value=${find} onInput=${event => setFind(event.currentTarget.value)} /></div>
        ${sections.map(([section, list]) => html`<${Card} key=${section} title=${section || '–'} level=${3}><ul class="bullets">${list.slice(0, 500).map(one => html`<${Bullet} key=${one.id} one=${one} />`)}</ul><//>`)}
        ${!sections.length && html`<${Note}>${t('playbooks.empty')}<//>`}`}</div>`}
  <//>`
}

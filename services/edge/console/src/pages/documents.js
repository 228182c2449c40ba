// Documents: collections, files and folders to bring in with their progress, and a search.
import { get, post } from '../base/api.js'
import { chosenFiles, droppedFiles } from '../base/dropped.js'
import { bytes, count } from '../base/format.js'
import { html, useRef, useState } from '../base/html.js'
import { readStream } from '../base/sse.js'
import { withSlot } from '../base/shared_stream.js'
import { t } from '../base/words.js'
import { Quote } from '../parts/answer.js'
import { Button, Card, Degradations, Dialog, Empty, ErrorNote, Field, Loading, Note, Page, Time, useLoad } from '../parts/basics.js'
import { CollectionPicker } from '../parts/collections.js'
import { Icon } from '../parts/icons.js'

const FILE_MAX = 2 * 1024 * 1024, BATCH_MAX = 2 * 1024 * 1024, BATCH_FILES = 64

function base64(buffer) {
  const part = new Uint8Array(buffer)
  let text = ''
  for (let i = 0; i < part.length; i += 8192) text += String.fromCharCode(...part.subarray(i, i + 8192))
  return btoa(text)
}

async function* batchesOf(files) {
  let documents = [], size = 0
  for (const { file, path } of files) {
    if (size + file.size > BATCH_MAX || documents.length >= BATCH_FILES) {
      if (documents.length) yield documents
      documents = []
      size = 0
    }
    documents.push({ path, content: base64(await file.arrayBuffer()) })
    size += file.size
  }
  if (documents.length) yield documents
}

function Upload({ collections, onDone }) {
  const [name, setName] = useState(collections[0]?.name ?? 'documents'), [progress, setProgress] = useState(null), [skipped, setSkipped] = useState([]), [error, setError] = useState(null), [over, setOver] = useState(false), [link, setLink] = useState('')
  const stop = useRef(null), busy = useRef(false), files = useRef(null), folder = useRef(null)
  const bring = async list => {
    const all = list.filter(({ path }) => !path.split('/').some(part => part.startsWith('.')))
    if (!all.length || busy.current) return
    busy.current = true
    const fit = all.filter(({ file }) => file.size && file.size <= FILE_MAX)
    const own = new AbortController()
    stop.current = own
    setError(null)
    setSkipped(all.filter(one => !fit.includes(one)).map(({ file, path }) => ({ kind: 'DEGRADATION_KIND_SKIPPED', part: path, reason: t(file.size ? 'upload.too_large' : 'upload.empty', { size: bytes(FILE_MAX) }) })))
    let done = 0, paragraphs = 0, unchanged = 0
    setProgress({ total: fit.length, done, paragraphs, unchanged, busy: true })
    try {
      for await (const documents of batchesOf(fit)) {
        if (own.signal.aborted) break
        let last = {}
        const outcome = await withSlot(() => readStream(() => ({ path: '/v1/documents:index', method: 'POST', body: { collection: name, documents: { documents } } }), {
          signal: own.signal, onLink: setLink,
          onEvent: ({ event, data }) => {
            if (event !== 'message') return
            last = data
            if (data.skipped?.length) setSkipped(before => [...before, ...data.skipped])
            setProgress({ total: fit.length, done: done + Number(data.filesDone ?? 0), paragraphs: paragraphs + Number(data.paragraphs ?? 0), unchanged: unchanged + Number(data.filesUnchanged ?? 0), file: data.file, busy: true })
          },
        }))
        if (outcome.error) {
          setError(outcome.error)
          break
        }
        done += documents.length
        paragraphs += Number(last.paragraphs ?? 0)
        unchanged += Number(last.filesUnchanged ?? 0)
      }
    } catch (why) { // a file that changed, or that the browser may not read
      setError({ status: 'UNKNOWN', message: String(why.message ?? why) })
    }
    busy.current = false
    setProgress(before => ({ ...before, done, paragraphs, unchanged, busy: false, stopped: own.signal.aborted }))
    onDone()
  }
  const choose = event => {
    const list = chosenFiles(event.currentTarget.files)
    event.currentTarget.value = '' // the same files can be chosen again
    bring(list)
  }
  const drop = async transfer => {
    const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean)
    const files = chosenFiles(transfer.files)
    try {
      await bring(entries.length ? await droppedFiles(entries) : files)
    } catch (why) {
      setError({ status: 'UNKNOWN', message: String(why.message ?? why) })
    }
  }
  return html`<${Card} title=${t('upload.title')}><${Field} id="collection" label=${t('upload.collection')}><input id="collection" list="collection-names" value=${name} pattern="[a-z0-9_\\-]+" maxlength="64" spellcheck="false" onInput=${event => setName(event.currentTarget.value.toLowerCase().replace(/[^a-z0-9_-]/g, '-'))} />
      <datalist id="collection-names">${collections.map(one => html`<option value=${one.name}></option>`)}</datalist><//>
    <div class=${'drop' + (over ? ' over' : '')} onDragOver=${event => { event.preventDefault(); setOver(true) }} onDragLeave=${() => setOver(false)} onDrop=${event => { event.preventDefault(); setOver(false); drop(event.dataTransfer) }}>
      <${Icon} name="documents" size="26" /><p>${t('upload.drop')}</p>
      <div class="actions"><${Button} icon="file" disabled=${!name || progress?.busy} onClick=${() => files.current.click()}>${t('upload.files')}<//><${Button} icon="documents" disabled=${!name || progress?.busy} onClick=${() => folder.current.click()}>${t('upload.folder')}<//></div>
      <input type="file" multiple hidden ref=${files} aria-label=${t('upload.files')} onChange=${choose} /><input type="file" webkitdirectory hidden ref=${folder} aria-label=${t('upload.folder')} onChange=${choose} /></div>
    ${progress && html`<div class="upload" role="status"><progress max=${progress.total || 1} value=${progress.done} aria-label=${t('upload.title')}></progress>
      <p>${t(progress.busy ? 'upload.busy' : progress.stopped ? 'upload.stopped' : 'upload.done', { done: count(progress.done), total: count(progress.total), paragraphs: count(progress.paragraphs) })} ${progress.unchanged > 0 && t('upload.unchanged', { n: progress.unchanged, count: count(progress.unchanged) })} <span class="faint" dir="auto">${progress.busy ? progress.file : ''}</span></p>
      ${progress.busy && html`<${Button} kind="small" onClick=${() => stop.current.abort()}>${t('cancel')}<//>`}</div>`}
    ${progress?.busy && link === 'lost' && html`<${Note} kind="warn" icon="again">${t('link.wait')}<//>`}<${ErrorNote} error=${error} /><${Degradations} list=${skipped.slice(0, 50)} title="upload.skipped" /><//>`
}

function Search() {
  const [text, setText] = useState(''), [picked, setPicked] = useState([]), [found, setFound] = useState(null), [busy, setBusy] = useState(false), [error, setError] = useState(null)
  const search = async event => {
    event.preventDefault()
    if (!text.trim()) return
    setBusy(true)
    setError(null)
    try {
      setFound(await post('/v1/documents:search', { query: text, collections: picked, limit: 20 }))
    } catch (why) {
      setError(why)
    }
    setBusy(false)
  }
  return html`<${Card} title=${t('search.title')}><form class="search-form" role="search" onSubmit=${search}><label class="visually-hidden" for="search">${t('search.title')}</label><input id="search" type="search" dir="auto" placeholder=${t('search.placeholder')} value=${text} onInput=${event => setText(event.currentTarget.value)} />
      <${Button} kind="primary" icon="research" type="submit" busy=${busy} onClick=${search}>${t('search')}<//></form>
    <${CollectionPicker} value=${picked} onChange=${setPicked} />
    <${ErrorNote} error=${error} />
    ${found && html`<p role="status" class="faint">${t('search.found', { n: found.hits.length })}</p><ul class="hits">${found.hits.map((hit, i) => html`<${Quote} key=${i} hit=${hit} />`)}</ul><${Degradations} list=${found.degradations} />`}<//>`
}

export function Documents() {
  const { value, error, again } = useLoad(() => get('/v1/knowledgeBase'), [])
  const [deleting, setDeleting] = useState(null), [wrong, setWrong] = useState(null), [turn, setTurn] = useState(0)
  const changed = () => {
    again()
    setTurn(turn + 1)
  }
  const drop = async () => {
    try {
      await post('/v1/documents:delete', { collection: deleting })
      setWrong(null)
    } catch (why) {
      setWrong(why)
    }
    setDeleting(null)
    changed()
  }
  return html`<${Page} title=${t('documents.title')} lead=${t('documents.lead')}>
    <${ErrorNote} error=${error} onAgain=${again} /><${ErrorNote} error=${wrong} />
    ${!value && !error && html`<${Loading} />`}
    ${value && html`<${Card} title=${t('documents.collections')}>${value.collections.length ? html`<div class="scroll" tabindex="0" role="region" aria-label=${t('documents.collections')}><table><thead><tr><th scope="col">${t('documents.name')}</th><th scope="col" class="number">${t('documents.documents')}</th><th scope="col" class="number">${t('documents.paragraphs')}</th><th scope="col" class="number">${t('documents.size')}</th><th scope="col">${t('documents.vectors')}</th><th scope="col">${t('documents.updated')}</th><th><span class="visually-hidden">${t('delete')}</span></th></tr></thead>
        <tbody>${value.collections.map(one => html`<tr key=${one.name}><td>${one.name}</td><td class="number">${count(one.documents)}</td><td class="number">${count(one.paragraphs)}</td><td class="number">${bytes(one.bytes)}</td><td class="faint">${one.embeddingModel ? `${one.embeddingModel} ${count(one.vectors)}` : '–'}</td><td><${Time} ms=${one.updatedMs} /></td>
          <td><button type="button" class="button ghost square" aria-label=${t('documents.delete', { name: one.name })} onClick=${() => setDeleting(one.name)}><${Icon} name="trash" /></button></td></tr>`)}</tbody></table></div>` : html`<${Empty} icon="documents">${t('documents.none')}<//>`}<//>
      <${Search} key=${'s' + turn} /><${Upload} key="upload" collections=${value.collections} onDone=${changed} />`}
    ${deleting && html`<${Dialog} title=${t('documents.delete', { name: deleting })} onClose=${() => setDeleting(null)}><p>${t('documents.delete_help')}</p><div class="actions end"><${Button} kind="danger" icon="trash" onClick=${drop}>${t('delete')}<//></div><//>`}
  <//>`
}

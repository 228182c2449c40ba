// The modules of the console that need no page: the reader of events, the layout, the model of a run, differences.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, CONSOLE, ESBUILD, expect, finish, run } from './checks.mjs'

const folder = mkdtempSync(join(tmpdir(), 'console-'))
writeFileSync(join(folder, 'entry.js'), ['base/sse', 'base/run_model', 'base/changes', 'base/api', 'base/clock', 'base/format', 'base/run_list', 'base/dropped', 'base/router_match', 'base/file_name', 'parts/layout', 'parts/answer', 'parts/scene']
  .map(name => `export * from ${JSON.stringify(join(CONSOLE, 'src', name + '.js'))}`).join('\n'))
run(ESBUILD, join(folder, 'entry.js'), '--bundle', '--format=esm', '--external:./vendor.js', '--outfile=' + join(folder, 'all.mjs'), '--log-level=error')
copyFileSync(join(CONSOLE, 'vendor/vendor.js'), join(folder, 'vendor.js'))
writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
const { blockParser, RunModel, changesOf, lanesOf, withTop, droppedFiles, layout, query, match, piecesOf, sourcesOf, sceneOf, documentsOf, openAtFirst, parseExact, rawNumber, learnTime, serverNow, duration, shortened, fileName } = await import(join(folder, 'all.mjs'))
globalThis.document ??= { visibilityState: 'hidden' }

await check('events are read alike, wherever the stream is cut', async () => {
  const text = '\ufeffretry: 2000\r\n\r\nid: 5\nevent: end\ndata: {"a":\ndata: 1}\n\n: comment\rdata:x\r\rid\ndata: y\r\n\r\n'
  const whole = []
  blockParser(block => whole.push(block))(text)
  expect(whole.length === 4 && whole[0].retry === 2000 && whole[1].id === '5' && whole[1].event === 'end' && whole[1].data === '{"a":\n1}' && whole[2].data === 'x' && whole[3].id === '', whole)
  for (let cut = 1; cut < text.length; cut++) {
    const blocks = [], parse = blockParser(block => blocks.push(block))
    parse(text.slice(0, cut))
    parse(text.slice(cut))
    expect(JSON.stringify(blocks) === JSON.stringify(whole), `cut at ${cut}: ${JSON.stringify(blocks)}`)
  }
})

await check('a query repeats lists, flattens objects, leaves out what is empty and escapes the rest', async () => {
  expect(query({ a: '', states: ['X', 'Y'], labels: { 'k&1': 'a b' }, n: 0 }) === 'states=X&states=Y&labels%5Bk%261%5D=a%20b&n=0', query({ a: '', states: ['X', 'Y'], labels: { 'k&1': 'a b' }, n: 0 }))
})

await check('the newest page of runs replaces the top of the list, and leaves no gap below it', async () => {
  const ids = (...names) => names.map(runId => ({ runId }))
  const told = (runs, page, more) => { const top = withTop(ids(...runs), ids(...page), more); return top.runs.map(run => run.runId).join('') + (top.anew ? ' anew' : '') }
  for (const [runs, page, more, wanted] of [['', 'cb', true, 'cb anew'], ['cba', 'dc', true, 'dcba'], ['dba', 'cb', true, 'cba'], ['ba', 'fe', true, 'fe anew'], ['dcb', 'da', true, 'da anew'], ['dcba', 'ca', false, 'ca anew'], ['dcba', '', false, ' anew']])
    expect(told([...runs], [...page], more) === wanted, `${runs} and ${page}: ${told([...runs], [...page], more)}`)
})

await check('a dropped folder is read with all that is in it, in parts, without hidden files', async () => {
  const file = path => ({ isFile: true, name: path.split('/').pop(), fullPath: path, file: read => read({ size: 1 }) })
  const directory = (path, list) => ({ name: path.split('/').pop(), fullPath: path, createReader() {
    const rest = [...list]
    return { readEntries: read => read(rest.splice(0, 2)) }
  } })
  const files = await droppedFiles([directory('/a', [file('/a/1.md'), file('/a/.git'), directory('/a/b', [file('/a/b/2.md')]), file('/a/3.md')]), file('/4.md')])
  expect(files.map(one => one.path).join() === 'a/1.md,a/b/2.md,a/3.md,4.md', files)
})

await check('paths are matched by segments, and broken escapes match nothing', async () => {
  expect(match('/runs/:runId', '/runs/a%2Fb').runId === 'a/b' && match('/runs/:runId', '/runs') === null && match('/runs/:runId', '/runs/%zz') === null, 'match')
})

function chain(count) {
  const nodes = Array.from({ length: count }, (_, i) => ({ id: 'n' + i, width: 140, height: 40 }))
  return [nodes, nodes.slice(1).flatMap((node, i) => [{ from: 'n' + i, to: node.id, labels: [] }, ...(i % 7 === 0 && i + 5 < count ? [{ from: 'n' + i, to: 'n' + (i + 5), labels: [] }] : []), ...(i % 11 === 3 ? [{ from: node.id, to: 'n' + Math.max(0, i - 2), labels: [] }] : [])])]
}

await check('no two nodes of a layout overlap, and arrows lead down but for those that close a cycle', async () => {
  const [nodes, arrows] = chain(120)
  const { places, lines, width, height } = layout(nodes, arrows, ['n0'])
  expect(lines.length === arrows.length && [...places.values()].every(place => place.x >= 0 && place.x <= width && place.y >= 0 && place.y <= height), 'a place is outside')
  const list = [...places]
  for (const [a, one] of list) for (const [b, other] of list) expect(a === b || Math.abs(one.x - other.x) >= 140 || Math.abs(one.y - other.y) >= 40, `${a} and ${b} overlap`)
  for (const { arrow, back } of lines) expect(back || places.get(arrow.from).y < places.get(arrow.to).y, arrow)
})

await check('a graph of 5,000 nodes in one chain is laid out', async () => {
  const begun = performance.now()
  layout(...chain(5000), ['n0'])
  const took = performance.now() - begun
  expect(took < 30000, `${took} ms`)
  return `${took.toFixed(0)} ms`
})

const event = (id, node, what, path = '', branch = 0) => ({ eventId: String(id), runId: 'r', timeMs: String(1000 + id), step: '1', path, node, branch, ...what })
await check('a fan-out of 5,000 branches is one node with counts', async () => {
  const model = new RunModel()
  let id = 0
  for (let i = 0; i < 5000; i++) model.apply(event(++id, 'work', { nodeStarted: { attempt: 1, kind: 'set' } }, `all[${i}]`))
  for (let i = 0; i < 4990; i++) model.apply(event(++id, 'work', { nodeFinished: { attempt: 1, outcome: 'done', durationMs: '5' } }, `all[${i}]`))
  for (let i = 4990; i < 4995; i++) model.apply(event(++id, 'work', { nodeFailed: { attempt: 1, statusCode: 14, message: 'no' } }, `all[${i}]`))
  const stat = model.stats.get('all/work')
  expect(stat.done === 4990 && stat.failed === 5 && stat.running === 5 && model.stats.size === 1, stat)
})

await check('the log of a run keeps its newest events, and counts those that it dropped', async () => {
  const model = new RunModel()
  for (let id = 1; id <= 9000; id++) model.apply(event(id, 'a', { updated: { fields: [] } }))
  expect(model.dropped > 0 && model.dropped + model.log.length === 9000 && model.log.length <= 6000 && model.log.at(-1).eventId === '9000', `${model.log.length} kept, ${model.dropped} dropped`)
})

await check('of 5,000 branches the last one is found that a node waited for, and the step before', async () => {
  const model = new RunModel()
  const add = (id, node, what, path, step) => model.apply({ ...event(id, node, what, path), step: String(step) })
  add(1, 'first', { nodeStarted: { kind: 'set' } }, '', 1)
  add(2, 'first', { nodeFinished: { outcome: 'done' } }, '', 1)
  add(3, 'all', { nodeStarted: { kind: 'each' } }, '', 2)
  for (let i = 0; i < 5000; i++) add(4 + i, 'work', { nodeStarted: { kind: 'set' } }, `all[${i}]`, 1)
  for (let i = 0; i < 5000; i++) add(6000 + i, 'work', { nodeFinished: { outcome: 'done' } }, `all[${(i + 7) % 5000}]`, 1)
  add(12000, 'all', { nodeFinished: { outcome: 'done' } }, '', 2)
  const all = model.spans.find(span => span.node === 'all')
  expect(model.within(all)?.path === 'all[6]' && model.before(all)?.node === 'first', [model.within(all)?.path, model.before(all)?.node])
  expect(model.waits(all).map(span => span.path + span.node).join() === 'first,all,all[6]work', model.waits(all))
})

await check('an integer that no double holds stays as it was written', async () => {
  const text = '{"id":12345678901234567890,"list":[-98765432109876543210],"small":7,"text":"12345678901234567890"}'
  expect(JSON.stringify(parseExact(text)) === text && rawNumber(parseExact(text).id) === '12345678901234567890' && rawNumber(7) === null, JSON.stringify(parseExact(text)))
})

await check('the time of the server is used when the clock of the browser is wrong by more than a few seconds', async () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5), header = new Date(at).toUTCString()
  for (const [local, wanted] of [[at + 3600e3, at + 500], [at - 3600e3, at + 500], [at + 1000, at + 1000]]) {
    learnTime(header, local)
    expect(serverNow(local) === wanted, `${local - at}: ${serverNow(local) - at}`)
  }
  learnTime(null, 0)
})

await check('a duration is never told as 60 seconds, and a name of a file has no sign with a meaning', async () => {
  expect([9949, 9960, 59999, 60000].map(duration).join() === '9.9s,9s,59s,1m 0s', [9949, 9960, 59999, 60000].map(duration).join())
  const names = ['../../etc/passwd', 'a\u202egnp.exe', '  ', 'x'.repeat(300), 'C:\\a|b?\n', '日本語 レポート'].map(name => fileName(name, '.md'))
  expect(names.join('!') === ['etc passwd.md', 'a gnp.exe.md', 'renga.md', 'x'.repeat(80) + '.md', 'C a b.md', '日本語 レポート.md'].join('!'), names)
})

await check('an attempt that a crash has hidden ends when the next one begins', async () => {
  const model = new RunModel()
  model.apply(event(1, 'a', { nodeStarted: { attempt: 1, kind: 'set' } }))
  model.apply(event(2, 'a', { nodeStarted: { attempt: 2, kind: 'set' } }))
  model.apply(event(3, 'a', { nodeFinished: { attempt: 2, outcome: 'done' } }))
  expect(model.spans.length === 2 && model.spans[0].state === 'lost' && model.spans[1].state === 'done' && model.stats.get('a').running === 0, model.spans)
})

await check('an interrupt is open until its answer, and one without an answer until the run goes on', async () => {
  const model = new RunModel()
  model.apply(event(1, 'a', { interrupted: { interruptId: 'q', kind: 'INTERRUPT_KIND_QUESTION', path: '', node: 'a' } }))
  model.apply(event(2, 'b', { interrupted: { interruptId: 's', kind: 'INTERRUPT_KIND_BEFORE', path: '', node: 'b' } }))
  expect(model.interrupts.size === 2, 'not both are open')
  model.apply(event(3, 'a', { answered: { interruptId: 'q', answerJson: '1' } }))
  model.apply(event(4, '', { stateChanged: { previous: 'RUN_STATE_WAITING', current: 'RUN_STATE_RUNNING' } }))
  expect(model.interrupts.size === 0 && model.stats.get('a').waiting === 0 && model.stats.get('b').waiting === 0, [...model.interrupts])
})

await check('changes name the fields that are new, gone, changed and grown', async () => {
  const kinds = Object.fromEntries(changesOf({ a: 1, b: [1], c: { x: 1 }, d: 0 }, { a: 2, b: [1, 2], c: { x: 1 }, e: null }).map(one => [one.name, one.kind]))
  expect(JSON.stringify(kinds) === JSON.stringify({ a: 'changed', b: 'grown', d: 'gone', e: 'new' }), kinds)
})

await check('two branches of checkpoints have a lane each, until the one that they come from', async () => {
  const list = [['f2', 'f1'], ['f1', 'c1'], ['c3', 'c2'], ['c2', 'c1'], ['c1', '']].map(([checkpointId, parentCheckpointId]) => ({ checkpointId, parentCheckpointId }))
  expect(lanesOf(list).map(one => one.lane).join() === '0,0,1,1,0', lanesOf(list))
})

await check('an answer is cut into its sentences, and a sentence that is not in it is passed over', async () => {
  const citations = [{ sentenceNumber: 1, sentence: 'One.', uri: 'a', quote: 'q' }, { sentenceNumber: 2, sentence: 'Gone.', uri: 'b', quote: 'q' }, { sentenceNumber: 3, sentence: 'Two.', uri: 'a', quote: 'r' }]
  expect(piecesOf('One. And Two.', citations).map(piece => piece.number ?? '-').join() === '1,-,3', piecesOf('One. And Two.', citations))
  expect(sourcesOf(citations).map(source => source.quotes.length).join() === '2,1', sourcesOf(citations))
})

await check('a text that is too long for a line ends with an ellipsis, and a short one stays as it is', async () => {
  expect(shortened(' How  long?\n', 9) === 'How long?' && shortened('How long are', 9) === 'How long…' && shortened('𠮷𠮷𠮷', 2) === '𠮷…', shortened('How long are', 9))
})

await check('of a graph of 500 nodes 150 are drawn, and the rest is counted', async () => {
  const nodes = Object.fromEntries(Array.from({ length: 500 }, (_, i) => ['n' + i, { kind: 'noop', on: { done: i < 499 ? 'n' + (i + 1) : 'end' } }]))
  const documents = documentsOf({ graphs: [{ name: 'big', documentJson: JSON.stringify({ start: 'n0', nodes }) }] })
  const scene = sceneOf(documents, openAtFirst(documents))
  expect(scene.boxes.length === 150 && scene.folded === 350, `${scene.boxes.length} are drawn`)
})

rmSync(folder, { recursive: true })
finish()

// Strings that users, agents and models supply, on every page that shows them: all of them stay text. Each payload carries
// a mark, so that the check also sees that the page showed it.
import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, expect, finish } from './checks.mjs'
import { agent, clean, close, context, folder, Suite, WAIT } from './browser.mjs'
import { nodeServer } from './agents.mjs'

const MARK = 'zq7mark'
const PAYLOADS = [
  '<script>pwned=1</script>', '"><img src=x onerror="pwned=1">', "'><svg onload=pwned=1>", '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '<a href="javascript:pwned=1">x</a>', '[x](javascript:pwned=1)', '[x](&#106;avascript:pwned=1)', '![x](http://127.0.0.1:9/leak.png)', '<math><mtext><style><img src=x onerror=pwned=1></style></mtext></math>',
  '<form action=/v1/runs><button>x</button></form>', '<base href=//evil.invalid/>', '<meta http-equiv=refresh content="0;url=//evil.invalid">', '{{constructor.constructor("pwned=1")()}}',
  '${globalThis.pwned=1}', '</title></textarea></style><details open ontoggle=pwned=1>', '<x style="position:fixed;inset:0;background:red">', 'javascript:pwned=1', '\u202e<b onclick=pwned=1>', ']]><!--', '<link rel=stylesheet href=//evil.invalid/x.css>',
  '[x](java&Tab;script:pwned=1)', '[x](data:text/html,<script>pwned=1</script>)', '<javascript:pwned=1>', '<svg><a xlink:href="javascript:pwned=1"><text>x</text></a></svg>', '```mermaid\ngraph TD; A["<img src=x onerror=pwned=1>"]\n```\n',
  '<noscript><p title="</noscript><img src=x onerror=pwned=1>">', '<a id=location name=body>x</a>', '[^__proto__] [^constructor]\n\n[^__proto__]: <img src=x onerror=pwned=1>\n', '=cmd|\'/C calc\'!A0', '<template><script>pwned=1</script></template>',
]
const EVIL = `${MARK} ${PAYLOADS.join(' ')}`
const short = text => text.slice(0, 200)

const model = createServer((request, answer) => {
  let body = ''
  request.on('data', part => { body += part })
  request.on('end', () => {
    const base = { id: 'x', created: 1, model: 'evil' }, usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (!JSON.parse(body).stream) {
      answer.setHeader('content-type', 'application/json')
      return answer.end(JSON.stringify({ ...base, object: 'chat.completion', usage, choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: EVIL } }] }))
    }
    answer.setHeader('content-type', 'text/event-stream')
    for (const choices of [[{ index: 0, delta: { content: EVIL }, finish_reason: null }], [{ index: 0, delta: {}, finish_reason: 'stop' }]]) answer.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices })}\n\n`)
    answer.end('data: [DONE]\n\n')
  })
})
await new Promise(bound => model.listen(0, '127.0.0.1', bound))
writeFileSync(join(folder, 'routes.json'), JSON.stringify({ deployments: { evil: { provider: 'openai', upstream: `http://127.0.0.1:${model.address().port}/v1`, key: 'a-key-of-the-test' } },
  models: { evil: { description: short(EVIL), targets: [{ deployment: 'evil' }] } } }))

const node = await nodeServer()
agent('hostile', {
  description: EVIL.slice(0, 1000), state: { text: { type: 'string' }, answer: { type: 'object' } }, input: ['text'], start: 'ask_person',
  nodes: {
    ask_person: { kind: 'ask', question: EVIL, payload: { [MARK]: EVIL }, into: 'answer', on: { answered: 'work' },
      schema: { type: 'object', title: short(EVIL), properties: { [`${MARK} <b onclick=pwned=1>`]: { type: 'string', title: short(EVIL), description: EVIL }, choice: { type: 'string', enum: PAYLOADS.slice(0, 6) } } } },
    work: { kind: 'remote', address: node.address, on: { done: 'end' } },
  },
})
// Texts at which a parser of Markdown runs out of its stack, or takes time by the square of their length.
for (const [name, text] of Object.entries({ deep: '>'.repeat(9000), deeper: '> '.repeat(4000), slow: 'a.'.repeat(9000) + '@', listed: Array.from({ length: 300 }, (_, i) => ' '.repeat(i) + '- a').join('\n') }))
  agent(name, { description: 'Asks what no parser likes.', state: { answer: { type: 'boolean' } }, start: 'ask_person', nodes: { ask_person: { kind: 'ask', question: text, schema: { type: 'boolean' }, into: 'answer', on: { answered: 'end' } } } })
agent('chatter', { description: 'Asks the model.', state: { text: { type: 'string' }, reply: { type: 'string' } }, input: ['text'], start: 'talk', nodes: { talk: { kind: 'chat', prompt: 'talk', into: 'reply', inputs: ['text'], on: { replied: 'end' } } } })
agent('broken', `{\n  "agent": "broken",\n  "start": ${JSON.stringify(short(PAYLOADS[1]))},\n  "nodes": {"x": {"kind": ${JSON.stringify(PAYLOADS[0])}}}\n}\n`)
const suite = await new Suite('hostile', '--llm_gateway.routes=' + join(folder, 'routes.json')).start()
const here = await context(suite)
here.allowed = [/40[04]|429/]
const page = await here.newPage()

async function harmless(place) {
  await page.waitForTimeout(300)
  const found = await page.evaluate(mark => ({
    ran: globalThis.pwned !== undefined, shown: document.documentElement.outerHTML.includes(mark) || document.title.includes(mark), origin: location.origin,
    made: [...document.querySelectorAll('img, iframe, object, embed, base, form[action], style, math, meta[http-equiv], script:not([src]), a[href^="javascript" i], link[href*="evil"], [style*="fixed"]')].map(one => one.outerHTML.slice(0, 120)),
    handlers: [...document.querySelectorAll('*')].filter(one => one.getAttributeNames().some(name => name.startsWith('on'))).map(one => one.outerHTML.slice(0, 120)),
  }), MARK)
  expect(!found.ran && !found.made.length && !found.handlers.length && found.origin === suite.url, `${place}: ${JSON.stringify(found)}`)
  return found.shown
}

const ids = {}
await check('payloads come in as titles, labels, inputs, questions, errors, lessons, documents and file names', async () => {
  const labels = { title: short(EVIL), [`${MARK}<b>`]: short(EVIL) }
  ids.waits = (await suite.run('hostile', { text: EVIL }, '', { labels })).runId
  ids.fails = (await suite.run('hostile', { text: EVIL }, '', { labels })).runId
  for (let tries = 0; tries < 200 && (await suite.runOf(ids.fails)).state !== 'RUN_STATE_WAITING'; tries++) await new Promise(later => setTimeout(later, 50))
  const { interrupts } = await suite.runOf(ids.fails)
  await suite.call('POST', `/v1/runs/${ids.fails}:resume`, { answers: [{ interruptId: interrupts[0].interruptId, answerJson: JSON.stringify({ choice: PAYLOADS[0] }) }] })
  ;(await node.next()).fail(EVIL)
  const add = section => ({ operations: [{ kind: 'PLAYBOOK_OPERATION_KIND_ADD', section, content: EVIL }], reason: EVIL.slice(0, 1000), source: short(EVIL) })
  await suite.call('PUT', '/v1/playbooks/hostile', add('general')).catch(() => suite.call('PUT', '/v1/playbooks/hostile', { operations: add('general').operations, reason: EVIL.slice(0, 1000) }))
  const documents = [{ path: `${MARK} <img src=x onerror=pwned=1>.md`, content: Buffer.from(`# ${EVIL}\n\nThe red lamp means ${EVIL}.\n`).toString('base64') }]
  await suite.call('POST', '/v1/documents:index', { collection: 'hostile', documents: { documents } })
})

await check('no payload runs or becomes markup, on any page that shows it', async () => {
  let shown = 0
  const places = ['/runs', '/agents', '/agents/hostile', '/agents/hostile?tab=document', '/agents/hostile?tab=schema', '/agents/broken', '/models', '/playbooks', '/playbooks/hostile', '/playbooks/hostile?tab=history', '/documents',
    ...[ids.waits, ids.fails].flatMap(id => ['', '?tab=timeline', '?tab=state', '?tab=events', '?tab=output', '?node=work', `?tab=state&compare=${ids.waits}`].map(tab => `/runs/${id}${tab}`)),
    '/runs?label=' + encodeURIComponent('title=' + EVIL), '/runs?thread=' + encodeURIComponent(short(EVIL)), '/runs/' + encodeURIComponent(short(EVIL)), '/agents/' + encodeURIComponent(PAYLOADS[1]), '/playbooks/' + encodeURIComponent(PAYLOADS[1]), '/ask/' + encodeURIComponent(PAYLOADS[1])]
  for (const place of places) {
    await page.goto(place)
    await page.waitForSelector('h1')
    await page.evaluate(() => document.querySelectorAll('details').forEach(one => { one.open = true }))
    shown += await harmless(place)
  }
  expect(shown >= 20, `only ${shown} of ${places.length} pages showed a payload`)
  return `${PAYLOADS.length} payloads, ${shown} of ${places.length} pages showed them`
})

await check('a question that Markdown cannot be made of is shown as it is, and can be answered', async () => {
  for (const name of ['deep', 'deeper', 'slow', 'listed']) {
    const run = await suite.run(name, {})
    await page.goto('/runs/' + run.runId)
    await page.waitForSelector('.ask-card .prose .plain', WAIT)
    await page.click('.ask-card button:has-text("Approve")')
    await page.waitForSelector('.page-head .tag:has-text("Succeeded")', WAIT)
  }
})

await check('questions, answers of a model, search and the form of an interview stay text', async () => {
  await page.goto('/documents')
  await page.fill('#search', 'red lamp ' + EVIL)
  await page.press('#search', 'Enter')
  await page.waitForSelector('.hit', WAIT)
  expect(await harmless('search'), 'the hit does not show the payload')
  await page.goto('/')
  await page.fill('#question', 'What does the red lamp mean? ' + EVIL)
  await page.press('#question', 'Enter')
  await page.waitForSelector('.answer-card, .note.bad', WAIT)
  expect(await harmless('ask'), 'the page does not show the question')
  await page.goto('/research')
  await page.fill('#theme', 'red lamp ' + EVIL)
  await page.click('button:has-text("Begin")')
  await page.waitForURL(/\/research\/.+/)
  await page.waitForSelector('.report, .note', WAIT)
  expect(await harmless('research'), 'the page does not show the theme')
  await page.goto('/interview')
  await page.click('button:has-text("New interview")')
  await page.fill('#form-text', JSON.stringify({ title: short(EVIL), fields: [{ id: '1', fieldId: 'name', label: short(EVIL), required: true }] }))
  await page.click('dialog button:has-text("Begin")')
  await page.waitForSelector('.bubble.theirs, dialog .note.bad', WAIT) // a model that answers garbage may also end it
  await harmless('interview')
})

await check('no page complained: no error in the console, no violation of the policy, no dialog', async () => clean(here))
node.stop()
model.close()
await close()
await suite.stop()
finish()

// What happens to an open page: reloads and restarts in the middle of a run, several tabs, many runs, many branches.
import { check, expect, finish } from './checks.mjs'
import { clean, close, context, longestTask, picture, Suite, WAIT } from './browser.mjs'
import { makeAgents, nodeServer } from './agents.mjs'

const node = await nodeServer()
makeAgents(node.address)
const suite = await new Suite('lives').start()
const here = await context(suite)
const state = (page, name) => page.waitForSelector(`.page-head .tag:has-text("${name}")`, WAIT)
const at = (page, name, look) => page.waitForSelector(`[data-node=${name}][data-state=${look}]`, WAIT)
// Streams that are open now, by tab.
const streams = new Map()
here.on('request', request => request.url().includes('events:watch') && streams.set(request, request.frame().page()))
for (const end of ['requestfinished', 'requestfailed']) here.on(end, request => streams.delete(request))
const openStreams = () => [...streams.values()].filter(page => !page.isClosed()).length

await check('the first page is ready within 300 ms of Chromium\'s own time', async () => {
  const page = await here.newPage()
  let best = Infinity, bytes = 0
  for (let turn = 0; turn < 5; turn++) {
    await page.goto('/', { waitUntil: 'commit' })
    await page.waitForSelector('#question')
    best = Math.min(best, await page.evaluate(() => performance.now()))
    bytes ||= await page.evaluate(() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).filter(one => !one.name.includes('/v1/')).reduce((sum, one) => sum + one.encodedBodySize, 0)) // later turns get 304
  }
  const marks = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)
  await page.close()
  expect(marks < 10000, `${marks} ms`)
  expect(bytes > 50000 && bytes <= 150 * 1024, `the first page is ${bytes} bytes compressed`)
  return `${(bytes / 1024).toFixed(0)} KiB compressed, ` + `ready after ${marks.toFixed(0)} ms, seen after ${best.toFixed(0)} ms`
})

await check('a reload in the middle of a run shows it as it stands, and it goes on', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Reloaded')
  const page = await here.newPage()
  await page.goto('/runs/' + run.runId)
  await at(page, 'first_step', 'running')
  await page.reload()
  await at(page, 'first_step', 'running')
  ;(await node.next()).answer({ first: '1' })
  await at(page, 'second_step', 'running')
  ;(await node.next()).answer({ second: '2' })
  await state(page, 'Succeeded')
  await page.close()
})

await check('two tabs share one stream; when the one that reads it closes, the other goes on', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Shared')
  const [one, two] = [await here.newPage(), await here.newPage()]
  await one.goto('/runs/' + run.runId)
  await at(one, 'first_step', 'running')
  await two.goto('/runs/' + run.runId)
  await at(two, 'first_step', 'running')
  await two.waitForTimeout(1500)
  expect(openStreams() === 1, `${openStreams()} streams are open`)
  ;(await node.next()).answer({ first: '1' })
  await Promise.all([at(one, 'second_step', 'running'), at(two, 'second_step', 'running')])
  await one.close()
  ;(await node.next()).answer({ second: '2' })
  await state(two, 'Succeeded')
  await at(two, 'second_step', 'done')
  await two.close()
})

await check('an answer in one tab is seen in the other', async () => {
  const run = await suite.run('release', { version: '1' }, 'Two tabs')
  const [one, two] = [await here.newPage(), await here.newPage()]
  for (const page of [one, two]) {
    await page.goto('/runs/' + run.runId)
    await page.waitForSelector('.ask-card label:has-text("staging")', WAIT)
  }
  await one.check('.ask-card label:has-text("staging") input')
  await one.fill('.ask-card input[type=number]', '1')
  await one.click('button:has-text("Send the answer")')
  await two.waitForSelector('.ask-card:has-text("May it go out?")', WAIT)
  await two.click('.ask-card button:has-text("Reject")')
  await Promise.all([state(one, 'Succeeded'), state(two, 'Succeeded')])
  await one.close()
  await two.close()
})

await check('eight tabs leave connections for further calls', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Eight tabs')
  const pages = []
  for (let i = 0; i < 8; i++) {
    pages.push(await here.newPage())
    await pages[i].goto('/runs/' + run.runId)
    await at(pages[i], 'first_step', 'running')
  }
  expect(openStreams() === 1, `${openStreams()} streams are open`)
  ;(await node.next()).answer({ first: '1' })
  ;(await node.next()).answer({ second: '2' })
  await Promise.all(pages.map(page => state(page, 'Succeeded')))
  for (const page of pages) await page.close()
})

await check('a server that restarts under an open page is found again, and nothing is missed', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Restarted')
  const page = await here.newPage()
  here.allowed = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|503/]
  await page.goto('/runs/' + run.runId)
  await at(page, 'first_step', 'running')
  await node.next() // the call of the server that dies
  await suite.stop('SIGKILL')
  await page.waitForSelector('.note.warn:has-text("connection was lost")', WAIT)
  await picture(page, 'lost')
  await suite.start()
  ;(await node.next()).answer({ first: '1' })
  await at(page, 'second_step', 'running')
  await page.waitForSelector('.note.warn:has-text("connection was lost")', { state: 'detached' })
  ;(await node.next()).answer({ second: '2' })
  await state(page, 'Succeeded')
  await page.click('[role=tab]:has-text("Events")')
  await page.waitForSelector('.log-line.stopped')
  for (const name of ['first_step', 'second_step']) expect(await page.locator(`.log-line.nodeFinished:has-text("${name}")`).count() === 1, `${name} is not told once`)
  here.allowed = []
  await page.close()
})

await check('a run that another tab deletes is told as deleted, and nothing is offered for it', async () => {
  const run = await suite.run('release', { version: '1' }, 'To be deleted')
  const [one, two] = [await here.newPage(), await here.newPage()]
  here.allowed = [/404/]
  for (const page of [one, two]) {
    await page.goto('/runs/' + run.runId)
    await page.waitForSelector('.ask-card', WAIT)
  }
  await one.click('.page-head button:has-text("Delete")')
  await one.click('dialog button:has-text("Delete")')
  await one.waitForURL(url => url.pathname === '/runs')
  await two.waitForSelector('.note:has-text("was deleted")', WAIT)
  expect(await two.locator('.page-head button, .ask-card').count() === 0, 'the page still offers actions')
  await one.close()
  await two.close()
  here.allowed = []
})

await check('a question that is asked while the server is away says so, and is answered when it is back', async () => {
  const page = await here.newPage()
  here.allowed = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|503/]
  await page.goto('/')
  await page.fill('#question', 'What does the green lamp mean?')
  await suite.stop('SIGKILL')
  await page.press('#question', 'Enter')
  await page.waitForSelector('.note.warn:has-text("cannot be reached")', WAIT)
  await suite.start()
  await page.waitForURL(/\/ask\/.+/, WAIT)
  await page.waitForSelector('.answer-card', WAIT)
  here.allowed = []
  await page.close()
})

await check('a browser whose clock is two hours slow tells the right times', async () => {
  const slow = await context(suite)
  await slow.addInitScript(() => {
    const now = Date.now
    Date.now = () => now() - 7200e3
  })
  const page = await slow.newPage()
  await suite.run('release', { version: '1' }, 'Just now')
  await page.goto('/runs')
  const text = await page.innerText('.run-row:has-text("Just now") time >> nth=0')
  expect(/second|minute|now/.test(text) && !text.startsWith('in '), text)
  clean(slow)
  await slow.close()
})

await check('a question goes on over a reload, and its answer comes', async () => {
  await suite.call('POST', '/v1/documents:index', { collection: 'lamps', documents: { documents: [{ path: 'lamps.md', content: Buffer.from('# Lamps\n\nThe red lamp means low pressure.\n').toString('base64') }] } })
  const page = await here.newPage()
  await page.goto('/')
  await page.fill('#question', 'What does the red lamp mean?')
  await page.press('#question', 'Enter')
  await page.waitForURL(/\/ask\/.+/)
  await page.reload()
  await page.waitForSelector('.sentence:has-text("low pressure")', WAIT)
  await page.close()
})

await check('a sentence of an answer goes on within the line, and a key opens its source', async () => {
  const page = await here.newPage()
  await page.goto('/')
  await page.fill('#question', 'What does the red lamp mean?')
  await page.press('#question', 'Enter')
  const sentence = await page.waitForSelector('.sentence:has-text("low pressure")', WAIT)
  await page.setViewportSize({ width: 260, height: 700 })
  expect(await sentence.evaluate(one => one.getClientRects().length) > 1, 'the sentence is a box of its own')
  await sentence.press('Enter')
  await page.waitForSelector('.sentence[aria-expanded=true]', WAIT)
  await page.waitForSelector('.sources figure.chosen', WAIT)
  await page.close()
})

await check('all runs of a filter are cancelled, and then deleted', async () => {
  for (let i = 0; i < 12; i++) await suite.run('release', { version: String(i) }, 'Batch', { labels: { title: 'Batch', batch: 'b1' } })
  const page = await here.newPage()
  for (const filter of ['label=b1', 'state=FAILED,WRONG', 'since=year']) {
    await page.goto('/runs?' + filter)
    await page.waitForSelector('.note.bad:has-text("not understood")')
    expect(await page.locator('.run-row, .menu').count() === 0, `${filter}: runs are shown, and can be acted on`)
  }
  await page.goto('/runs?label=batch%3Db1')
  await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 12, null, WAIT)
  await page.click('.menu summary')
  await page.keyboard.press('Escape')
  expect(!await page.evaluate(() => document.querySelector('.menu').open), 'Escape leaves the menu open')
  const act = async (action, button) => {
    await page.click('.menu summary')
    await page.click(`.menu-box button:has-text("${action}")`)
    await page.waitForSelector('dialog p:has-text("Filter: batch=b1")')
    await page.click(`dialog button:has-text("${button}")`)
    await page.waitForSelector('dialog [role=status]:has-text("Done: 12 of 12")', WAIT)
    await page.keyboard.press('Escape')
  }
  await act('Cancel runs', 'Cancel 12 runs')
  await page.waitForFunction(() => [...document.querySelectorAll('.run-row .tag')].every(tag => tag.innerText === 'Cancelled'), null, WAIT)
  await picture(page, 'runs')
  await act('Delete threads', 'Delete 12 threads')
  await page.waitForSelector('.empty', WAIT)
  await page.close()
})

await check('the list has pages, and only the rows in sight are in it', async () => {
  for (let i = 0; i < 450; i += 30) await Promise.all(Array.from({ length: 30 }, (_, j) => suite.run('release', { version: '1' }, `Row ${i + j}`, { labels: { title: `Row ${i + j}`, batch: 'rows' } })))
  const page = await here.newPage()
  await page.goto('/runs?label=batch%3Drows')
  await page.waitForSelector('.run-row')
  const seen = new Set()
  for (let turn = 0; turn < 90 && seen.size < 450; turn++) {
    for (const text of await page.locator('.run-title').allInnerTexts()) seen.add(text)
    expect(await page.locator('.run-row').count() < 80, 'too many rows are in the page')
    await page.evaluate(() => document.querySelector('.virtual').scrollBy(0, 450))
    await page.waitForTimeout(80)
  }
  expect(seen.size === 450, `${seen.size} of 450 rows were seen`)
  const top = () => page.evaluate(() => document.querySelector('.virtual')?.scrollTop)
  const before = await top()
  await page.click('.run-row >> nth=10')
  await page.waitForSelector('.ask-card', WAIT)
  await page.goBack()
  await page.waitForSelector('.run-row')
  expect(Math.abs(await top() - before) < 300, `the list was at ${before} and is at ${await top()} after the way back`)
  await page.close()
})

await check('a run of 5,000 branches is drawn, and the page does not freeze', async () => {
  const page = await here.newPage()
  await page.goto('/agents')
  const run = await suite.run('many', { items: Array.from({ length: 5000 }, (_, i) => `item ${i}`) }, 'Many branches')
  for (let tries = 0; tries < 1200 && (await suite.runOf(run.runId)).state !== 'RUN_STATE_SUCCEEDED'; tries++) await page.waitForTimeout(100) // its events come at once then
  const { wall, processor } = await longestTask(page, async () => {
    await page.evaluate(path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }, '/runs/' + run.runId)
    await state(page, 'Succeeded')
    await page.waitForFunction(() => document.querySelector('[data-node="work_on_all/copy_item"]')?.getAttribute('aria-label').includes('5,000 done'), null, { timeout: 180000 })
  })
  await picture(page, 'many')
  expect(processor <= 200, `a task takes ${processor} ms of the processor`)
  await page.click('[role=tab]:has-text("Timeline")')
  await page.waitForSelector('.span')
  expect(await page.locator('.span').count() < 80, 'all spans are in the page')
  await page.click('[role=tab]:has-text("States")')
  await page.waitForSelector('.checkpoint:has-text("work_on_all")', WAIT)
  await page.click('[role=tab]:has-text("Events")')
  await page.waitForSelector('p:has-text("older events are not shown")', WAIT)
  await page.close()
  return `longest task ${wall} ms, ${processor} ms of it on the processor`
})

await check('no page complained', async () => clean(here))
node.stop()
await close()
await suite.stop()
finish()

// Every page of the console in Chromium, as a person uses it, from documents to time travel.
import { AxeBuilder } from '@axe-core/playwright'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, expect, finish, whenFailed } from './checks.mjs'
import { clean, close, context, picture, SAMPLES, Suite, WAIT } from './browser.mjs'
import { EVIL, makeAgents, nodeServer } from './agents.mjs'

const node = await nodeServer()
makeAgents(node.address)
const suite = await new Suite('pages').start()
const here = await context(suite)
const page = await here.newPage()
whenFailed(sentence => picture(page, 'failed_' + sentence.replace(/\W+/g, '_').slice(0, 40)))
const tab = name => page.click(`[role=tab]:has-text("${name}")`)
const state = name => page.waitForSelector(`.page-head .tag:has-text("${name}")`, WAIT)
let asked = '', released = ''

await check('a question before there are documents leads to the page that brings some in', async () => {
  await page.goto('/')
  await page.fill('#question', 'Who won the football world cup in 1990?')
  await page.press('#question', 'Enter')
  await page.waitForSelector('.answer-card .note:has-text("There are no documents yet.") a[href="/documents"]', WAIT)
  expect(!(await page.innerText('.answer-card')).includes('OPENAI_API_KEY'), 'a model is asked for, which would not help')
})

await check('a file that is not read is named as left out', async () => {
  await page.goto('/documents')
  await page.waitForSelector('#collection')
  await page.fill('#collection', 'handbook')
  await page.setInputFiles('input[type=file][multiple]', { name: 'logo.md', mimeType: 'text/markdown', buffer: Buffer.from([0, 1, 2, 0]) })
  await page.waitForSelector('.note:has-text("One file was left out") li:has-text("Skipped logo.md – ")', WAIT)
})

await check('files are brought into a collection, and the search finds a passage with its place', async () => {
  await page.goto('/documents')
  await page.waitForSelector('#collection')
  await page.fill('#collection', 'handbook')
  await page.setInputFiles('input[type=file][multiple]', ['backup.md', 'troubleshooting.md', 'login.md'].map(name => join(SAMPLES, 'en', name)).filter(path => { try { return readFileSync(path) } catch { return false } }))
  await page.waitForSelector('.upload:has-text("Done")', WAIT)
  await page.waitForSelector('td:has-text("handbook")')
  await page.fill('#search', 'How long are backups kept?')
  await page.press('#search', 'Enter')
  await page.waitForSelector('.hit:has-text("35 days")', WAIT)
  await picture(page, 'documents')
  expect((await page.innerText('.hit >> nth=0')).includes('backup.md'), 'the place is not named')
})
await suite.index('docs', join(SAMPLES, 'en'))

await check('a question shows its plan, its parts, and an answer whose sentences open source and quote', async () => {
  await page.goto('/')
  await page.fill('#question', 'How long are backups kept? What does XYZ-5008 mean?')
  await page.press('#question', 'Enter')
  await page.waitForURL(/\/ask\/.+/)
  await page.waitForSelector('.answer-card', WAIT)
  asked = page.url()
  expect(await page.locator('.step.good').count() === 2, 'not both parts are answered')
  await page.click('.sentence:has-text("35 days")')
  await page.waitForSelector('figure.chosen blockquote:has-text("35 days")')
  expect((await page.innerText('figure.chosen figcaption')).match(/backup\.md:\d+/), 'the place is not named')
  await picture(page, 'ask')
})

await check('a question that is longer than its title stands whole above its answer, and a missing model is a note and no warning', async () => {
  const question = 'How long are backups kept? What do I do if I have forgotten my password?'
  await page.goto('/')
  await page.fill('#question', question)
  await page.press('#question', 'Enter')
  await page.waitForSelector('.answer-card', WAIT)
  expect(await page.innerText('h1') === question, await page.innerText('h1'))
  expect(await page.locator('.answer-card .note:has-text("No language model answered")').count() === 1 && await page.locator('.answer-card .note.warn').count() === 0, 'a warning')
  await page.goto('/')
  await page.waitForSelector('.rows a:has-text("What do I do if I have forgotten…")')
  await page.goto(asked)
  await page.waitForSelector('.answer-card', WAIT)
})

await check('a question that the documents do not answer tells how a model is connected', async () => {
  await page.goto('/')
  await page.fill('#question', 'Who won the football world cup in 1990?')
  await page.press('#question', 'Enter')
  await page.waitForSelector('.answer-card .note:has-text("set OPENAI_API_KEY")', WAIT)
  expect(!(await page.innerText('.answer-card')).includes('sentences were found'), 'a sentence is said to be found')
  await page.goto(asked)
  await page.waitForSelector('.answer-card', WAIT)
})

await check('after a reload the same answer stands there', async () => {
  const before = await page.innerText('.answer-text')
  await page.reload()
  await page.waitForSelector('.answer-card', WAIT)
  expect(await page.innerText('.answer-text') === before, 'another answer')
})

await check('another browser shows the answer of that run, too', async () => {
  const other = await context(suite)
  const theirs = await other.newPage()
  await theirs.goto(asked)
  await theirs.waitForSelector('.sentence:has-text("35 days")', WAIT)
  clean(other)
  await other.close()
})

await check('an interview fills its form with values and quotes, and is confirmed', async () => {
  await page.goto('/interview')
  await page.click('button:has-text("New interview")')
  const form = JSON.parse(await page.inputValue('#form-text'))
  form.title = 'Report'
  await page.fill('#form-text', JSON.stringify(form))
  await page.click('dialog button:has-text("Begin")')
  await page.waitForURL(/\/interview\/.+/)
  await page.waitForSelector('.bubble.theirs', WAIT)
  const said = ['English. I live in Japan.', 'Ada Lovelace', 'ada@example.com', '2026-11-02', 'a near miss', 'A crate fell in hall 3 and nobody was near.']
  for (const text of said) {
    const before = await page.locator('.bubble.theirs').count()
    await page.fill('#say', text)
    await page.press('#say', 'Enter')
    await page.waitForFunction(n => document.querySelectorAll('.bubble.theirs').length > n && !document.querySelector('.chat-input [aria-busy=true]'), before, WAIT)
  }
  await page.waitForSelector('[data-field=email][data-state=DONE] .form-quote:has-text("ada@example.com")', WAIT)
  expect(await page.innerText('[data-field=date] .form-value') === '2026-11-02', await page.innerText('[data-field=date]'))
  await page.click('[data-field=name] button:has-text("Change")')
  await page.fill('[data-field=name] textarea, [data-field=name] input', 'Ada King')
  await page.click('[data-field=name] button[type=submit]')
  await page.waitForSelector('[data-field=name] .form-value:has-text("Ada King")', WAIT)
  await picture(page, 'interview')
  await page.click('.form-foot button')
  await page.waitForSelector('.page-head .tag.good:has-text("Confirmed")', WAIT)
})

await check('deep research shows queries and notes, and a report that is exported as Markdown', async () => {
  await page.goto('/research')
  await page.fill('#theme', 'How are backups made and kept?')
  await page.click('button:has-text("Begin")')
  await page.waitForSelector('.report .footnotes', WAIT)
  expect(await page.locator('.note-card').count() > 0 && await page.locator('.step').count() > 0, 'no notes')
  const [file] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Export Markdown")')])
  expect(readFileSync(await file.path(), 'utf8').includes('## '), 'no headings')
  await page.click('.report-body sup a >> nth=0')
  expect(new URL(page.url()).hash.startsWith('#report-note-'), page.url())
  await picture(page, 'research_deep')
  await page.fill('#follow-up', 'How long are backups kept?')
  await page.click('form:has(#follow-up) button')
  await page.waitForSelector('.follow-up', WAIT)
})

await check('autonomous research waits: the plan is edited, a draft is rejected, the rest approved, a report comes', async () => {
  await page.goto('/research?mode=autonomous')
  await page.fill('#theme', 'Backups and their keys')
  await page.click('button:has-text("Begin")')
  await page.waitForSelector('.ask-card', WAIT)
  await page.check('.ask-card input[value=edit]')
  await page.fill('#queries', 'backup key\nbackup schedule')
  await page.click('button:has-text("Go on with this plan")')
  let rejected = false
  for (let turn = 0; turn < 14; turn++) {
    await page.waitForFunction(() => document.querySelector('.ask-card button:not([disabled])') || /Succeeded|Failed/.test(document.querySelector('.page-head .tag')?.innerText), null, WAIT)
    if (!await page.locator('.ask-card').count()) break
    if (turn === 0) { // a reload in the middle of a wait
      await page.reload()
      await page.waitForSelector('.ask-card', WAIT)
    }
    if (!rejected && (await page.innerText('.ask-card h2')).includes('writer')) {
      await page.check('.ask-card input[value=reject]')
      await page.fill('#decision-text', 'Say more about the key.')
      await page.click('.ask-card button:has-text("Reject")')
      rejected = true
    } else await page.click('.ask-card button:has-text("Go on")')
    await page.waitForFunction(was => !document.querySelector('.ask-card') || document.querySelector('.log-row:last-child')?.innerText !== was || true, '', WAIT)
    await page.waitForSelector('.ask-card [aria-busy=true]', { state: 'detached' })
    await page.waitForTimeout(400)
  }
  await state('Succeeded')
  await page.waitForSelector('.footnotes li', WAIT)
  expect(await page.locator('.log-row:has-text("Plan edited")').count() === 1, 'the decision is not in the history')
  await picture(page, 'research_autonomous')
})

await check('another browser decides about a research that it did not begin', async () => {
  await page.goto('/research?mode=autonomous')
  await page.fill('#theme', 'Keys of backups')
  await page.click('button:has-text("Begin")')
  await page.waitForSelector('.ask-card', WAIT)
  const theirs = await context(suite), other = await theirs.newPage()
  await other.goto(page.url())
  await other.check('.ask-card input[value=edit]')
  expect((await other.inputValue('#queries')).length > 5, 'the plan is not there')
  await other.fill('#queries', 'backup key')
  await other.click('button:has-text("Go on with this plan")')
  await other.waitForSelector('.card li:text-is("backup key")', WAIT)
  await other.click('.page-head button:has-text("Cancel")')
  await other.waitForSelector('.page-head .tag:has-text("Cancelled")', WAIT)
  clean(theirs)
  await theirs.close()
})

await check('a run is drawn as it happens: the node at work lights up, then the next', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Live run')
  await page.goto('/runs/' + run.runId)
  await page.waitForSelector('[data-node=first_step][data-state=running]', WAIT)
  ;(await node.next()).answer({ first: 'one' })
  await page.waitForSelector('[data-node=first_step][data-state=done]', WAIT)
  await page.waitForSelector('[data-node=second_step][data-state=running]', WAIT)
  await state('Running')
  await picture(page, 'run_live')
  ;(await node.next()).answer({ second: 'two' })
  await page.waitForSelector('[data-node=second_step][data-state=done]', WAIT)
  await state('Succeeded')
  await tab('Timeline')
  await page.click('.span:has-text("second_step")')
  await page.waitForSelector('.span-detail:has-text("waited for first_step")')
})

await check('a run that fails names the node and the reason, and goes on from there', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Failing run')
  await page.goto('/runs/' + run.runId)
  ;(await node.next()).fail('the disk is full ' + EVIL)
  await page.waitForSelector('.note.bad:has-text("the disk is full")', WAIT)
  await page.waitForSelector('[data-node=first_step][data-state=failed]')
  await page.waitForSelector('.resume-note:has-text("first_step")')
  await page.click('button:has-text("Resume")')
  ;(await node.next()).answer({ first: 'one' })
  ;(await node.next()).answer({ second: 'two' })
  await state('Succeeded')
})

await check('before a run is resumed the page says which nodes run again, and whose results are kept', async () => {
  const run = await suite.run('pair', {}, 'Two sides')
  const calls = [await node.next(), await node.next()].sort((a, b) => a.request.function.localeCompare(b.request.function))
  calls[0].answer({ left: '1' })
  await new Promise(later => setTimeout(later, 500))
  calls[1].fail('the right side is down')
  await page.goto('/runs/' + run.runId)
  await state('Failed')
  await page.waitForSelector('.resume-note:has-text("right_side"):not(:has-text("left_side"))')
  await page.waitForSelector('.note:has-text("Kept as they are"):has-text("left_side")')
})

await check('the time line says who waited for whom, also within nodes that hold a graph', async () => {
  await page.goto('/runs/' + asked.split('/').pop() + '?tab=timeline')
  await page.click('.span:has-text("create_answer")')
  await page.waitForSelector('.span-detail:has-text("waited for")')
  expect(await page.locator('.span.waited').count() > 2, 'the chain is not marked')
  await page.click('.span:has-text("execute_subtasks") >> nth=0')
  await page.waitForSelector('.span-detail:has-text("ended with execute_subtasks")')
  await tab('Who waited for whom')
  await page.waitForSelector('.span:has-text("create_plan")')
})

await check('questions of a run are answered with a form and with a button', async () => {
  const run = await suite.run('release', { version: '2.4.0 ' + EVIL }, 'Release ' + EVIL)
  released = run.runId
  await page.goto('/runs')
  await page.click('.run-row:has-text("Release") >> nth=0')
  await page.waitForSelector('.ask-card:has-text("Which environment")', WAIT)
  await page.waitForSelector('[data-node=ask_details][data-state=waiting]')
  await page.check('.ask-card label:has-text("production") input')
  await page.fill('.ask-card input[type=number]', '3')
  await picture(page, 'interrupt')
  await page.click('button:has-text("Send the answer")')
  await page.waitForSelector('.ask-card:has-text("May it go out?")', WAIT)
  await page.click('.ask-card button:has-text("Approve")')
  await state('Succeeded')
  await page.waitForSelector('[data-node=roll_out][data-state=done]')
})

await check('a question without a schema is answered as its field wants it, and no number of a state is rounded', async () => {
  const { run } = await suite.call('POST', '/v1/runs', { agent: 'quiz', inputJson: '{"big":12345678901234567890}' })
  await page.goto('/runs/' + run.runId)
  await page.waitForSelector('.ask-card:has-text("Which number")', WAIT)
  await page.fill('.ask-card input[type=number]', '7')
  await page.click('button:has-text("Send the answer")')
  await page.waitForSelector('.ask-card:has-text("Which words")', WAIT)
  await page.fill('.ask-card textarea', 'no quotes')
  await page.click('button:has-text("Send the answer")')
  await state('Succeeded')
  await tab('Output')
  await page.waitForSelector('.json-number:text-is("12345678901234567890")')
  await page.waitForSelector('.json-line:has-text("no quotes")')
})

await check('a node within another one runs again from the node that holds it', async () => {
  await page.goto(`/runs/${asked.split('/').pop()}?node=execute_subtasks/select_tools`)
  await page.click('button:has-text("Run again from execute_subtasks")')
  await page.waitForSelector('dialog .note:has-text("execute_subtasks"):has-text("survey_subtasks")')
  await page.keyboard.press('Escape')
  await page.goto(`/runs/${asked.split('/').pop()}?tab=state&before=nowhere`)
  await page.waitForSelector('.note.warn:has-text("no checkpoint before nowhere")')
  await page.goto(`/runs/${asked.split('/').pop()}?tab=nothing`)
  await page.waitForSelector('[data-node=create_plan]')
  await tab('Events')
  await page.waitForSelector('.log-line.is-checkpoint')
  const places = await page.evaluate(() => [...new Set([...document.querySelectorAll('.log-kind')].map(one => Math.round(one.getBoundingClientRect().x)))])
  expect(places.length === 1, `the columns of the events begin at ${places}`)
  await page.click('a:has-text("Open its page")')
  await page.waitForSelector('.answer-card', WAIT)
})

await check('a run that stands before a node goes on with a changed state', async () => {
  const run = await suite.run('slow', { text: 'x' }, 'Stands', { interruptBefore: ['second_step'] })
  await page.goto('/runs/' + run.runId)
  ;(await node.next()).answer({ first: 'one' })
  await page.waitForSelector('.ask-card:has-text("Stands before")', WAIT)
  await page.click('button:has-text("Change the state first")')
  await page.fill('#stop-update', '{"text": "changed"}')
  await page.click('.ask-card button:has-text("Go on")')
  const call = await node.next()
  expect(JSON.parse(call.request.state_json).text === 'changed', call.request.state_json)
  call.answer({ second: 'two' })
  await state('Succeeded')
})

await check('time travel: a fork with another answer says what runs again, and both branches stand there', async () => {
  await page.goto(`/runs/${released}?tab=state`)
  await page.click('.checkpoint:has-text("ask_approval")')
  await page.waitForSelector('.change[data-field=approved]')
  await page.click('button:has-text("Fork from here")')
  await page.selectOption('#fork-field', 'approved')
  await page.fill('#fork-approved', 'false')
  await page.waitForSelector('dialog .note:has-text("decide")')
  await picture(page, 'fork')
  await page.click('button:has-text("Begin the new run")')
  await page.waitForURL(url => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(released))
  await state('Succeeded')
  await page.waitForSelector('[data-node=hold_back][data-state=done]')
  await tab('States')
  await page.waitForSelector('.checkpoint:has-text("hold_back")')
  expect(await page.locator('.checkpoint:has-text("roll_out")').count() === 1, 'the old branch is gone')
  await picture(page, 'branches')
  await page.click('button:has-text("Compare the branches")')
  await page.waitForSelector('.branches .card:has-text("The other run"):has-text("roll_out")')
  await page.waitForSelector('.branches .card:has-text("This run"):has-text("hold_back")')
  await page.waitForSelector('.change[data-field=approved] .was:has-text("true")')
  await picture(page, 'compare')
  await page.goto(`/runs/${released}`)
  expect((await suite.runOf(released)).state === 'RUN_STATE_SUCCEEDED', 'the old run is another one')
})

await check('agents: the graph, the schema, the versions, and the fault of a broken document at its line', async () => {
  await page.goto('/agents')
  await page.waitForSelector('.problem:has-text("faulty/graph.json:3")')
  await page.click('.tile:has-text("helpdesk")')
  await page.waitForSelector('[data-node="execute_subtasks/select_tools"]')
  await picture(page, 'agent')
  await page.focus('[data-node=create_plan]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[data-node=create_plan][aria-pressed=true]')
  for (const [name, what] of [['Schema', 'Input'], ['Prompts', 'answer.system'], ['Versions', 'current'], ['Document', 'helpdesk']]) {
    await tab(name)
    await page.waitForSelector(`[role=tabpanel]:has-text("${what}")`)
    if (name !== 'Prompts') continue
    await page.click('[data-prompt="answer.system"] summary')
    expect((await page.innerText('[data-prompt="answer.system"] pre >> nth=0')).length > 40, 'the text of the prompt is not there')
  }
})

await check('an agent is run with the form of its schema', async () => {
  await page.goto('/agents/release')
  await page.click('button:has-text("Run"):not([disabled])')
  await page.fill('dialog textarea', '3.0.0')
  await page.click('dialog button:has-text("Begin")')
  await page.waitForURL(/\/runs\/.+/)
  await page.waitForSelector('.ask-card', WAIT)
})

await check('models and cost: figures, chart, deployments and breakers', async () => {
  await page.goto('/models')
  await page.waitForSelector('.chart canvas', WAIT)
  await page.waitForSelector('.tag:has-text("Working")')
  await picture(page, 'models')
})

await check('a playbook has its lessons and its history, and goes back to an earlier revision', async () => {
  const add = content => ({ operations: [{ kind: 'PLAYBOOK_OPERATION_KIND_ADD', section: 'style', content }], reason: 'because ' + EVIL })
  await suite.call('PUT', '/v1/playbooks/lessons.v1', add('Say the unit with every figure. ' + EVIL))
  await suite.call('PUT', '/v1/playbooks/lessons.v1', add('Prefer pages of this year.'))
  await page.goto('/playbooks')
  await page.click('a:has-text("lessons.v1")')
  await page.waitForSelector('.bullet:has-text("Prefer pages")')
  await tab('History')
  await page.click('button:has-text("Go back to this") >> nth=0')
  await page.click('dialog .button.primary')
  await page.waitForSelector('.lead:has-text("revision 3")', WAIT)
  await tab('Lessons')
  expect(await page.locator('.bullet').count() === 1, 'not one lesson')
})

await check('what a user or a model writes is text: nothing of it runs', async () => {
  for (const path of ['/', '/runs', '/runs/' + released, `/runs/${released}?tab=events`, `/runs/${released}?tab=state`, `/runs/${released}?tab=output`, '/agents', '/agents/release', '/playbooks/lessons.v1', '/playbooks/lessons.v1?tab=history', '/nowhere/' + encodeURIComponent(EVIL), '/runs/' + encodeURIComponent(EVIL)]) {
    here.allowed = [/404|400/]
    await page.goto(path)
    await page.waitForTimeout(500)
    expect(await page.evaluate(() => globalThis.pwned === undefined && !document.querySelector('img, a[href^="javascript"], script:not([src])')), path)
  }
  await page.goto('/')
  await page.fill('#question', EVIL + ' How long are backups kept?')
  await page.press('#question', 'Enter')
  await page.waitForSelector('.answer-card, .note.bad', WAIT)
  here.allowed = [] // the refusals of the pages before have come
  expect(await page.evaluate(() => globalThis.pwned === undefined), 'the question ran')
})

const WAYS = ['/', '/interview', '/research', '/runs', '/runs/' + released, `/runs/${released}?tab=timeline`, `/runs/${released}?tab=state`, `/runs/${released}?tab=events`, `/runs/${released}?tab=output`, new URL(asked || suite.url).pathname, '/agents', '/agents/helpdesk', '/models', '/playbooks/lessons.v1', '/documents']

// The dark page is the light one in other colors. Legacy mode makes no further page to sum up; no page of ours has frames of others.
function audit(page, colorsAlone) {
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })
  return (colorsAlone ? builder.withRules(['color-contrast', 'link-in-text-block']) : builder.withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])).analyze()
}

await check('axe finds no serious fault on any page: light, dark, and as wide as a phone', async () => {
  const found = []
  await suite.call('PUT', '/v1/playbooks/lessons.v1', { operations: [{ kind: 'PLAYBOOK_OPERATION_KIND_ADD', section: 'axe', content: 'Be seen.' }] })
  for (const path of WAYS) {
    await page.goto(path)
    await page.waitForSelector('h1')
    await page.waitForTimeout(500)
    for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['dark', 390], ['light', 390]]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      if (colorScheme === 'light' || width === 1280) {
        const { violations } = await audit(page, colorScheme === 'dark')
        for (const one of violations.filter(one => ['serious', 'critical'].includes(one.impact))) found.push(`${path} ${colorScheme} ${width}: ${one.id} ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary?.slice(0, 160)}`)
      }
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      if (over > 0) found.push(`${path} ${width}: ${over} px too wide`)
      if (width === 390 || colorScheme === 'dark') await picture(page, `${colorScheme}_${width}${path.replace(/\W+/g, '_').slice(0, 40)}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
  expect(!found.length, [...new Set(found)].slice(0, 8).join('\n'))
})

await check('the keyboard reaches the content first, and every way after it', async () => {
  await page.goto('/runs')
  await page.waitForSelector('h1')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement.className === 'skip'), 'the first stop is no skip link')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement.tagName === 'H1'), 'it does not lead to the title')
  await page.click('nav a:has-text("Agents")')
  await page.waitForFunction(() => document.activeElement.tagName === 'H1' && document.title.startsWith('Agents'))
  await page.goBack()
  await page.waitForFunction(() => document.title.startsWith('Runs'))
})

await check('in Japanese every page is Japanese, also its numbers and states', async () => {
  await page.click('.bar-foot button >> nth=0')
  for (const [path, title] of [['/', '文書に質問する'], ['/interview', 'インタビュー'], ['/research', '調査'], ['/runs', '実行一覧'], ['/agents', 'エージェント'], ['/models', 'モデルと費用'], ['/playbooks', 'プレイブック'], ['/documents', '文書']]) {
    await page.goto(path)
    await page.waitForSelector(`h1:text-is("${title}")`)
    expect(await page.evaluate(() => document.documentElement.lang) === 'ja', path)
  }
  await page.goto('/runs')
  await page.waitForSelector('.tag:has-text("成功")')
  await page.goto('/')
  await page.fill('#question', 'What does XYZ-5008 mean?')
  await page.press('#question', 'Enter')
  await page.waitForSelector('.card:has-text("回答") .sentence', WAIT)
  await picture(page, 'japanese')
  await page.click('.bar-foot button >> nth=0')
})

await check('no page complained: no error in the console, no violation of the policy', async () => clean(here))

await check('with keys the console asks for one, keeps a session, and signs out', async () => {
  const guarded = new Suite('keys', '--rpc.keys=' + JSON.stringify([{ name: 'ada', sha256: createHash('sha256').update('right-key-0123456789').digest('hex'), tenant: 'acme', methods: ['*'] }]))
  await guarded.start()
  const theirs = await context(guarded)
  theirs.allowed = [/401/]
  const door = await theirs.newPage()
  await door.goto('/runs')
  await door.fill('#key', 'wrong')
  await door.press('#key', 'Enter')
  await door.waitForSelector('.note.bad', WAIT)
  await picture(door, 'sign_in')
  await door.fill('#key', 'right-key-0123456789')
  await door.press('#key', 'Enter')
  await door.waitForSelector('h1:has-text("Runs")', WAIT)
  expect(await door.evaluate(() => document.cookie) === '', 'scripts see the session')
  await door.reload()
  await door.waitForSelector('h1:has-text("Runs")', WAIT)
  await door.goto('/ask')
  await door.fill('#question', 'What was typed here?')
  const second = await theirs.newPage()
  await second.goto('/runs?state=FAILED')
  await second.waitForSelector('h1:has-text("Runs")', WAIT)
  await door.click('[aria-label="Sign out"]')
  await door.waitForSelector('#key', WAIT)
  await second.waitForSelector('#key', WAIT) // the other tab, too
  expect(await door.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)].every(name => ['renga.lang', 'renga.scheme'].includes(name))), 'texts of the user stay in the browser')
  await door.fill('#key', 'right-key-0123456789')
  await door.press('#key', 'Enter')
  await second.waitForSelector('.chip.on:has-text("Failed")', WAIT)
  clean(theirs)
  await theirs.close()
  await guarded.stop()
})

node.stop()
await close()
await suite.stop()
finish()

// A suite with the edge, a browser, and pages that watch themselves: whatever a console, a network log or the policy of
// the page complains of is a fault of the check at the end.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { expect, HERE } from './checks.mjs'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const SHOTS = process.env.RENGA_SHOTS // a folder for pictures of the pages
export const WAIT = { timeout: 60000 }
export const SAMPLES = resolve(HERE, '../../../deploy/samples/docs')

if (!existsSync(CHROMIUM)) {
  console.log('ok - skipped: Chromium is not installed; deploy/install-deps --tests brings it')
  process.exit(0)
}

export const folder = mkdtempSync(join(tmpdir(), 'console-'))
const children = new Set()
process.on('exit', () => {
  children.forEach(child => child.kill('SIGKILL'))
  rmSync(folder, { recursive: true, force: true })
})

export const freePort = () => new Promise(found => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => found(port))
  })
})

export function agent(name, document) {
  mkdirSync(join(folder, 'agents', name), { recursive: true })
  writeFileSync(join(folder, 'agents', name, 'graph.json'), typeof document === 'string' ? document : JSON.stringify({ agent: name, ...document }))
}

export class Suite {
  constructor(name, ...flags) {
    this.name = name
    this.flags = flags
  }

  async start() {
    this.port ??= await freePort()
    this.url = `http://127.0.0.1:${this.port}`
    const environment = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(RENGA|OPENAI|ANTHROPIC)_/.test(key)))
    this.log = ''
    this.child = spawn(join(process.env.RENGA_BIN, 'renga'), ['serve', '--rpc.listen=127.0.0.1:0', '--http.listen=', `--edge.listen=127.0.0.1:${this.port}`, `--orchestrator.store=sqlite:${folder}/${this.name}.db`,
      `--tool_runner.store=${folder}/${this.name}-knowledge.db`, `--tool_runner.record=sqlite:${folder}/${this.name}-tools.db`, `--orchestrator.agents=${folder}/agents`, '--loops=2', ...this.flags], { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
    children.add(this.child)
    this.child.stderr.on('data', text => { this.log = (this.log + text).slice(-4000) })
    this.child.on('exit', () => children.delete(this.child))
    for (let tries = 0; tries < 600; tries++) {
      if (this.child.exitCode !== null) throw new Error('renga serve ends: ' + this.log)
      if (await fetch(this.url + '/healthz').then(answer => answer.ok, () => false)) return this
      await new Promise(later => setTimeout(later, 100))
    }
    throw new Error('renga serve does not listen: ' + this.log)
  }

  stop(signal = 'SIGTERM') {
    return new Promise(done => {
      this.child.on('exit', done)
      this.child.kill(signal)
    })
  }

  async call(method, path, body, headers = {}) {
    const answer = await fetch(this.url + path, { method, headers: { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}), ...headers }, body: body && JSON.stringify(body) })
    const text = await answer.text()
    expect(answer.ok, `${method} ${path}: ${answer.status} ${text.slice(0, 400)}`)
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }

  run = (agent, input, title, more = {}) => this.call('POST', '/v1/runs', { agent, inputJson: JSON.stringify(input), labels: { title }, ...more }).then(answer => answer.run)
  runOf = runId => this.call('GET', '/v1/runs/' + runId).then(answer => answer.run)

  index(collection, place) {
    const files = readdirSync(place, { recursive: true }).map(name => join(place, name)).filter(path => statSync(path).isFile())
    return this.call('POST', '/v1/documents:index', { collection, documents: { documents: files.map(path => ({ path: relative(dirname(place), path), content: readFileSync(path).toString('base64') })) } })
  }
}

let browser = null
export async function open() {
  browser ??= await chromium.launch({ executablePath: CHROMIUM })
  return browser
}

// A context of its own, with the faults of all its pages in `faults`.
export async function context(suite, options = {}) {
  const held = await (await open()).newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC', baseURL: suite.url, ...options })
  held.setDefaultTimeout(60000)
  held.faults = []
  held.allowed = []
  const fault = text => !held.allowed.some(pattern => pattern.test(text)) && held.faults.push(text)
  await held.exposeFunction('violated', fault)
  await held.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => globalThis.violated(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))
  })
  held.on('page', page => {
    page.on('console', message => ['error', 'warning'].includes(message.type()) && fault(`console: ${message.text()} ${message.location().url}`))
    page.on('pageerror', error => fault('error: ' + (error.stack ?? error)))
    page.on('dialog', dialog => { fault('dialog: ' + dialog.message()); dialog.dismiss() })
  })
  return held
}

// The longest task of the page's thread while `work` goes on, as {wall, processor} in ms. The time on the processor does
// not grow on a busy machine, so that it can be judged.
export async function longestTask(page, work) {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] })
  await work()
  const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString())
  const thread = one => one.pid + ':' + one.tid
  const pages = new Set(events.filter(one => one.name === 'thread_name' && one.args.name === 'CrRendererMain').map(thread))
  const tasks = events.filter(one => one.dur && one.name === 'RunTask' && pages.has(thread(one)))
  expect(tasks.length > 10, 'the trace has no tasks')
  const most = name => Math.round(Math.max(...tasks.map(one => one[name] ?? 0)) / 1000)
  return { wall: most('dur'), processor: most('tdur') }
}

export const clean = held => expect(!held.faults.length, [...new Set(held.faults)].slice(0, 5))

export async function picture(page, name) {
  if (!SHOTS) return
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, name + '.png') })
}

export async function close() {
  await browser?.close()
}

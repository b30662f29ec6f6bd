import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, signIn, siteTest, WITH_ADMIN } from './journey.ts'
import config from './playwright.config.ts'

/** Pictures of sites on pages of the admin, and what a hostile one cannot do. contract 17.2. */

/** A refused request is told as one too: here another server says what reached it. */
const test = siteTest.extend({
  noSurprises: async ({ appliance }, use) => {
    expect(appliance.port).toBeGreaterThan(0)
    await use(undefined)
  },
})

// Connection-Allowlist is a trial in Chromium 150.
const { launchOptions } = config.use ?? {}
const TRIAL = '--enable-features=ConnectionAllowlists,OverrideConnectionAllowlistOriginTrial'
test.use({
  env: WITH_ADMIN,
  launchOptions: { ...launchOptions, args: [...(launchOptions?.args ?? []), TRIAL] },
})

const HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Site</title>'
const SITE = {
  'index.html': `${HEAD}<link rel="stylesheet" href="/app.css"><script type="module" src="/app.js"></script>
<script type="module" src="/_svc/auth.js"></script><h1>Hello</h1><svc-auth></svc-auth>`,
  'app.css': '@font-face { font-family: x; src: url(/x.woff2) } h1 { color: rgb(1, 2, 3) }',
  'app.js': 'document.body.dataset.ran = "yes"',
}

/** Tries everything that a picture must not do; `OUT` is another server of this machine. */
const hostile = (
  out: string,
  admin: string,
) => `${HEAD}<h1>Bad</h1><img src="${out}/image"><link rel="stylesheet" href="${out}/style">
<script src="${out}/script"></script><script>
  const told = (what) => { document.body.append(what + ';') }
  const tried = (name, work) => { try { work() } catch (error) { told(name + ' threw') } }
  fetch('${out}/fetch').catch(() => told('fetch refused'))
  fetch('${admin}/api/auth/session', { credentials: 'include' }).catch(() => told('admin refused'))
  tried('beacon', () => navigator.sendBeacon('${out}/beacon', 'x'))
  tried('socket', () => new WebSocket('${out.replace('http', 'ws')}/socket'))
  tried('open', () => told('opened ' + open('${out}/window')))
  tried('top', () => { top.location = '${out}/top' })
  tried('parent', () => told('parent ' + parent.document.title))
  tried('alert', () => told('alerted ' + alert('Hello')))
  tried('cookie', () => told('cookie ' + document.cookie))
  tried('storage', () => told('storage ' + localStorage.length))
  tried('worker', () => navigator.serviceWorker.register('/sw.js').catch(() => told('worker refused')))
  document.body.insertAdjacentHTML('beforeend', '<form id=f method=post action="${out}/form"><input name=a></form><iframe src="${out}/frame"></iframe>')
  tried('form', () => document.getElementById('f').submit())
  setTimeout(() => { location = '${out}/self' }, 3000)
</script>`

/** Asks a STUN server for its own address. A browser refuses to begin, or lets it fail. */
const calling = (port: number) => `${HEAD}<h1>Call</h1><script>
  const say = (text) => document.body.append(text)
  try {
    const line = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] })
    line.oniceconnectionstatechange = () => say(line.iceConnectionState)
    line.createDataChannel('x')
    line.createOffer().then((offer) => line.setLocalDescription(offer))
  } catch (error) {
    say('failed: ' + error.name)
  }
</script>`

let outside: Server
let asked: string[]
let line: Socket
test.beforeEach(async () => {
  asked = []
  line = createSocket('udp4', () => void asked.push('udp')).bind(0, '127.0.0.1')
  await once(line, 'listening')
  outside = createServer((request, answer) => {
    asked.push(request.url ?? '')
    answer.writeHead(200, { 'access-control-allow-origin': '*' }).end('x')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => outside.once('listening', resolve))
})
test.afterEach(() => {
  outside.close()
  line.close()
})

async function publish(
  appliance: { url: string; asAdmin(method: string, path: string, json?: unknown): Promise<Response> },
  name: string,
  files: Record<string, string>,
): Promise<string> {
  const made = await appliance.asAdmin('POST', '/api/projects', { owner: 'acme', name })
  const { id } = await made.json()
  const { key } = await (
    await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', projectId: id })
  ).json()
  const body = new FormData()
  const fields = {
    repository: `acme/${name}`,
    commitSha: 'a'.repeat(16),
    alias: 'production',
    description: 'First',
  }
  for (const [field, value] of Object.entries(fields)) body.append(field, value)
  for (const [path, content] of Object.entries(files)) body.append('file', new File([content], path))
  await fetch(`${appliance.url}/api/deployments`, { method: 'POST', headers: { 'x-api-key': key }, body })
  return id
}

test('a private site is shown small, with its styles and scripts, on home, overview and deployment', async ({
  page,
  appliance,
}) => {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  const id = await publish(appliance, 'site', SITE)
  await page.goto(appliance.url)
  await signIn(page)
  for (const path of ['/?view=cards', `/projects/${id}`, `/projects/${id}/deployments/1`]) {
    await page.goto(`${appliance.url}${path}`)
    const frame = page.locator('iframe').first()
    for (const [name, value] of [
      ['loading', 'lazy'],
      ['sandbox', 'allow-scripts'],
      ['aria-hidden', 'true'],
      ['tabindex', '-1'],
    ] as const)
      await expect(frame).toHaveAttribute(name, value)
    await expect(frame).toHaveJSProperty('inert', true)
    const inside = frame.contentFrame()
    await expect(inside.locator('h1')).toHaveText('Hello')
    await expect(inside.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)')
    await expect(inside.locator('body')).toHaveAttribute('data-ran', 'yes')
  }
  expect(errors).toEqual([])
  await page.goto(appliance.url)
  await expect(
    page.getByRole('list', { name: 'Projects' }).getByRole('link', { name: 'Open site' }),
  ).toBeVisible()
  await page.getByRole('group', { name: 'View' }).getByRole('link', { name: 'List' }).click()
  await expect(page.getByRole('table', { name: 'Projects' })).toBeVisible()
  await page.goto(appliance.url)
  await expect(page.getByRole('table', { name: 'Projects' })).toBeVisible()
})

test('a hostile page reaches nothing, and the page of the admin stays as it is', async ({
  page,
  appliance,
  context,
}) => {
  const out = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
  const id = await publish(appliance, 'bad', { 'index.html': hostile(out, appliance.url) })
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await page.goto(appliance.url)
  await signIn(page)
  const address = `${appliance.url}/projects/${id}/deployments/1`
  await page.goto(address)
  const inside = page.locator('iframe').first().contentFrame()
  for (const text of [
    'fetch refused',
    'admin refused',
    'parent threw',
    'cookie threw',
    'storage threw',
    'opened null',
  ])
    await expect(inside.locator('body')).toContainText(text)
  await expect(inside.locator('body')).toHaveText('', { timeout: 30_000 })
  expect([asked, dialogs, context.pages().length, page.url()]).toEqual([[], [], 1, address])
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('#1 First')
})

test('a page that never ends leaves the page of the admin usable', async ({ page, appliance }) => {
  const id = await publish(appliance, 'loop', {
    'index.html': `${HEAD}<h1>Loop</h1><script>for (;;);</script>`,
  })
  await page.goto(appliance.url)
  await signIn(page)
  await page.goto(`${appliance.url}/projects/${id}/deployments/1`, { waitUntil: 'commit' })
  await expect(page.locator('iframe')).toHaveCount(1)
  await page.getByRole('link', { name: 'Files' }).click()
  await expect(page.getByRole('heading', { name: 'Files' })).toBeVisible()
})

test('a page cannot call out by WebRTC', async ({ page, appliance }) => {
  const id = await publish(appliance, 'call', { 'index.html': calling(line.address().port) })
  await page.goto(`${appliance.url}/projects/${id}/deployments/1`)
  await signIn(page)
  await expect(page.locator('iframe').first().contentFrame().locator('body')).toContainText('failed')
  expect(asked).toEqual([])
})

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false })
  test('a letter stands for the picture', async ({ page, appliance }) => {
    await publish(appliance, 'site', SITE)
    await page.goto(appliance.url)
    await signIn(page)
    await expect(page.getByRole('link', { name: 'Open site' })).toBeVisible()
    await expect(page.locator('iframe')).toHaveCount(0)
    await expect(page.locator('.tile')).toHaveAttribute('data-letter', 'S')
  })
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type HookApp, hookApp } from '../../src/testing/hook-app.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type Browser, browserOf, redirectOf } from '../testing/browser.ts'

const ROOT = 'root@example.com'
let hooks: HookApp
let browser: Browser
let admin: string
let contributor: string
let places: [who: string, place: string][]
beforeAll(async () => {
  hooks = await hookApp()
  browser = browserOf(hooks.app)
  admin = await seedMember(hooks.app, hooks.site.projectId, 'admin')
  contributor = await seedMember(hooks.app, hooks.site.projectId, 'contributor')
  places = [
    [admin, `/projects/${hooks.site.projectId}/webhooks`],
    [ROOT, '/admin/webhooks'],
  ]
})
afterAll(() => hooks.close())

const fields = () => ({
  intent: 'create',
  name: 'Team <b>',
  url: hooks.receiver.url('/from-a-form'),
  kind: 'json',
  'event-deployment.released': 'true',
  headers: 'Authorization: Bearer 1:2\r\n\r\nX-Team: docs',
  isEnabled: 'true',
})

async function read(path: string, as: string): Promise<string> {
  const answer = await browser.open(path, { as })
  expect([path, answer.status]).toEqual([path, 200])
  return answer.text()
}

test('a hook is made, tested, sent again, changed, given a secret and deleted at both places', async () => {
  for (const [as, place] of places) {
    expect(await read(place, as)).toContain('No webhooks yet')
    const made = await (await browser.submit(place, fields(), { as })).text()
    expect(made).toMatch(/whsec_[A-Za-z0-9+/]{43}=/)
    expect(made).toContain('Team &lt;b>')
    const list = await read(place, as)
    expect(list).not.toContain('whsec_')
    const [, id = ''] = new RegExp(`${place}/([0-9a-f-]{36})`).exec(list) ?? []
    const hook = `${place}/${id}`

    const page = await read(hook, as)
    expect(page).toContain('X-Team: [redacted]')
    expect(page).not.toContain('Bearer 1:2')
    expect(page).toMatch(/name="event-deployment.released"[^>]*checked/)

    const tested = await browser.submit(hook, { intent: 'test' }, { as })
    expect(tested.status).toBe(303)
    expect(hooks.receiver.received.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer 1:2',
      'x-team': 'docs',
    })
    const delivery = tested.headers.get('location') ?? ''
    const shown = await read(delivery, as)
    for (const text of ['Delivered', 'x-svc-signature-256: [redacted]', '&quot;event&quot;:&quot;ping&quot;'])
      expect(shown.replaceAll('"', '&quot;')).toContain(text)
    expect(redirectOf(await browser.submit(delivery, { intent: 'resend' }, { as }))).toEqual([
      303,
      `${delivery}?done=resent`,
    ])
    await hooks.send()
    expect(await read(delivery, as)).toContain('Try 2')

    const change = { ...fields(), intent: 'change', name: 'Other', 'event-*': 'true', headers: '' }
    expect(redirectOf(await browser.submit(hook, change, { as }))).toEqual([303, `${hook}?done=saved`])
    expect(await read(place, as)).toMatch(/Other[\s\S]*All/)
    expect(await (await browser.submit(hook, { intent: 'rotate' }, { as })).text()).toContain('whsec_')
    expect(redirectOf(await browser.submit(hook, { intent: 'delete' }, { as }))).toEqual([
      303,
      `${place}?done=deleted`,
    ])
    expect((await browser.open(hook, { as })).status).toBe(404)
  }
})

const bad: [what: string, change: Record<string, string>, message: string][] = [
  ['no event', { 'event-deployment.released': 'false' }, 'Choose at least one event.'],
  ['a header without a colon', { headers: 'Authorization' }, 'Write each header as Name: value.'],
  ['a private address', { url: 'https://10.0.0.1/' }, 'is not a public address'],
  ['a header of ours', { headers: 'X-Svc-Event: x' }, 'A hook sets this header itself'],
]
test.each(bad)('%s shows the form again with what was typed, and why', async (_what, change, message) => {
  for (const [as, place] of places) {
    const answer = await browser.submit(place, { ...fields(), ...change }, { as })
    const html = await answer.text()
    expect([answer.status, html.includes(message), html.includes('value="Team &lt;b>"')]).toEqual([
      400,
      true,
      true,
    ])
  }
})

test('saving keeps every event that was chosen by the API', async () => {
  const events = ['deployment.created', 'disk.low', 'ping']
  const hook = await hooks.make({ events })
  const page = hook.path.replace('/api', '')
  const boxes = [...(await read(page, admin)).matchAll(/<input[^>]*name="(event-[^"]+)"[^>]*>/g)]
  const ticked = boxes.filter(([box]) => /\schecked/.test(box)).map(([, name = '']) => [name, 'true'])
  const { url, name, kind } = fields()
  const form = { intent: 'change', url, name, kind, isEnabled: 'true', ...Object.fromEntries(ticked) }
  await browser.submit(page, form, { as: admin })
  const { body } = await hooks.call('GET', hook.path)
  expect([body['name'], [...(body['events'] as string[])].sort()]).toEqual([name, events])
})

test('who may not manage them sees no tab and no page', async () => {
  const path = `/projects/${hooks.site.projectId}`
  expect(await read(`${path}/retention`, admin)).toContain(`${path}/webhooks`)
  expect(await read(`${path}/retention`, contributor)).not.toContain(`${path}/webhooks`)
  expect((await browser.open(`${path}/webhooks`, { as: contributor })).status).toBe(403)
  expect((await browser.submit(`${path}/webhooks`, fields(), { as: contributor })).status).toBe(403)
  expect((await browser.open('/admin/webhooks', { as: admin })).status).toBe(403)
})

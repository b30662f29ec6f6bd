import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecord } from '../../domain/is-record.ts'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { publishTo } from '../../testing/hook-publish.ts'
import { lookAtDisk } from '../storage/low-disk.ts'
import { EVENTS } from './events.ts'
import { tellOfBackup, tellOfCertificate, watchForHooks } from './watch.ts'

/** `docs/webhooks.md` shows the body of each event; here each is compared with a real one. */
const DOCS = await Bun.file(join(import.meta.dir, '../../../docs/webhooks.md')).text()

let hooks: HookApp
const real = new Map<string, unknown>()
beforeAll(async () => {
  hooks = await hookApp()
  const hook = await hooks.make({}, '/api/webhooks')
  const { ctx } = hooks.app
  const { projectId } = hooks.site
  await publishTo(hooks, {
    commitSha: 'b'.repeat(40),
    alias: 'production',
    branch: 'main',
    description: 'News',
  })
  await publishTo(hooks, { commitSha: 'b'.repeat(40), alias: '..' })
  await publishTo(hooks, { commitSha: 'c'.repeat(40), preview: 'pr-12' })
  const checked = `/api/projects/${projectId}/release-checks`
  await hooks.call('PUT', checked, {
    startPage: false,
    checks: [{ name: 'imprint', path: '/imprint', contains: 'Register' }],
  })
  await publishTo(hooks, { commitSha: 'd'.repeat(40), alias: 'production' })
  await hooks.call('DELETE', checked)
  await hooks.call('DELETE', `/api/projects/${projectId}/previews/pr-12`)
  await hooks.call('POST', '/api/domains', { projectId, hostname: 'www.localhost', alias: 'production' })
  await hooks.call('POST', '/api/users', { email: 'ann@example.com' })
  const path = '/checkout'
  for (let i = 0; i < 30; i += 1) hooks.logRequest({ status: 502, weight: 1, path })
  await watchForHooks(ctx, { aborted: false })
  tellOfBackup(ctx, 'no space left on device', null)
  tellOfCertificate(ctx, 'docs.example.com', ctx.now(), 'CAA')
  ctx.config = { ...ctx.config, minFreeDisk: Number.MAX_SAFE_INTEGER }
  lookAtDisk(ctx)
  await hooks.call('POST', `${hook.path}/test`)
  await hooks.send()
  for (const { body } of hooks.receiver.received) {
    const event: { event: string } = JSON.parse(body)
    if (!real.has(event.event)) real.set(event.event, event)
  }
})
afterAll(() => hooks.close())

/** The first JSON after the heading of the event. */
const exampleText = (event: string): string => {
  const [, section = ''] = DOCS.split(`\n### ${event}\n`)
  const [, json = ''] = /```json\n([\s\S]*?)\n```/.exec(section) ?? []
  return json
}
const exampleOf = (event: string): unknown => JSON.parse(exampleText(event))

/** Names and kinds of values; null where either has none. */
function shape(value: unknown, other: unknown): unknown {
  if (value === null || other === null) return null
  if (Array.isArray(value)) return 'list'
  if (!isRecord(value)) return typeof value
  const names = Object.keys(value).sort()
  return Object.fromEntries(
    names.map((name) => [name, shape(value[name], isRecord(other) ? other[name] : undefined)]),
  )
}

test.each(EVENTS)('%s is documented as it is sent', (event) => {
  const [sent, shown] = [real.get(event), exampleOf(event)]
  expect(sent).toBeDefined()
  expect(shape(shown, sent)).toEqual(shape(sent, shown))
})

test('every event is named', () => {
  for (const event of EVENTS) expect(DOCS).toContain(`\`${event}\``)
})

const codeOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n((?:(?!\`\`\`)[\\s\\S])*(?:isFromSvc|is_from_svc)[\\s\\S]*?)\`\`\``).exec(
    DOCS,
  )?.[1] ?? ''

/** A program of each language that ends with 0 when the documented function takes the signature. */
const programs: [language: string, command: string, end: string][] = [
  ['js', 'node', 'process.exit(isFromSvc(S, readFileSync(F), G) ? 0 : 1)'],
  ['python', 'python3', 'sys.exit(0 if is_from_svc(S, open(F, "rb").read(), G) else 1)'],
  ['sh', 'sh', 'is_from_svc "$S" "$F" "$G"'],
]
test.each(programs)(
  'the documented %s takes a real signature, and no other',
  async (language, command, end) => {
    const secret = 'a secret with spaces & signs'
    const hook = await hooks.make({ secret })
    await hooks.call('POST', `${hook.path}/test`)
    const sent = hooks.receiver.received.at(-1)
    const folder = mkdtempSync(join(tmpdir(), 'svc-signature-'))
    const file = join(folder, 'body')
    writeFileSync(file, sent?.body ?? '')
    const values: Record<string, Record<'S' | 'F' | 'G', string>> = {
      good: { S: secret, F: file, G: String(sent?.headers['x-svc-signature-256']) },
      bad: { S: `${secret}!`, F: file, G: String(sent?.headers['x-svc-signature-256']) },
    }
    for (const [name, env] of Object.entries(values)) {
      const ran = Bun.spawnSync(
        [command, ...SCRIPT[language as keyof typeof SCRIPT](codeOf(language), end)],
        {
          env: { ...process.env, ...env },
        },
      )
      expect([name, ran.exitCode, ran.stderr.toString()]).toEqual([name, name === 'good' ? 0 : 1, ''])
    }
    rmSync(folder, { recursive: true })
  },
)

const SCRIPT = {
  js: (code: string, end: string) => [
    '--input-type=module',
    '-e',
    `import { readFileSync } from 'node:fs'\n${code}\nconst { S, F, G } = process.env\n${end}`,
  ],
  python: (code: string, end: string) => [
    '-c',
    `import os, sys\n${code}\nS, F, G = (os.environ[name] for name in "SFG")\n${end}`,
  ],
  sh: (code: string, end: string) => ['-c', `${code}\n${end}`],
}

test.each(EVENTS)('the example of %s names nothing twice', (event) => {
  expect(exampleText(event)).toBe(JSON.stringify(exampleOf(event), null, 2))
})

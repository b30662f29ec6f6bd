import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOUR_MS } from '../../domain/durations.ts'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import { type DnsServer, startDnsServer } from '../../testing/dns-server.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { NOON } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { withSettings } from '../../testing/with-settings.ts'

const BASE = 'sites.test'
const NAME = `_acme-challenge.${BASE}`
const FILE = `host-_.${BASE}.json`
const BOTH = [BASE, `*.${BASE}`]

let dns: DnsServer
let world: AcmeApp
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-wildcard-'))
  dns = await startDnsServer()
})
afterEach(async () => {
  await world.stop()
  dns.stop()
  rmSync(folder, { recursive: true })
})

async function start(env: Record<string, string>, type = 'dns-01'): Promise<void> {
  const common = { ACME_DNS_RESOLVERS: dns.address, ACME_DNS_TIMEOUT_SECONDS: '1', LOG_LEVEL: 'debug' }
  world = await acmeApp({ ...common, ...env }, (name) => dns.textsAt(name))
  world.ca.faults.challengeType = type
}
const wildcard = () => world.certificates().wildcard()
const untilStatus = (status: string) => until(status, () => wildcard()?.status === status)
const certFile = (name: string) => join(world.app.ctx.config.dataDir, 'certs', name)
const stored = () => JSON.parse(readFileSync(certFile(FILE), 'utf8'))
const hosts = () =>
  world
    .certificates()
    .all()
    .flatMap((one) => one.hosts)
const later = () => world.advance(HOUR_MS)

/** A program as lego's, whose calls are lines of a file that the name server reads. */
function program(failing = ''): { env: Record<string, string>; calls: () => string[][] } {
  const [path, calls] = [join(folder, 'program'), join(folder, 'calls')]
  writeFileSync(path, `#!/bin/sh\n${failing}\necho "$1 $2 $3 $ACME_EAB_HMAC_KEY|$SECRET_KEY" >> ${calls}\n`)
  chmodSync(path, 0o755)
  const read = () =>
    existsSync(calls)
      ? readFileSync(calls, 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' '))
      : []
  dns.more = (name) => {
    const of = (what: string) => read().flatMap(([w, n, v = '']) => (w === what && n === `${name}.` ? v : []))
    const gone = of('cleanup')
    return of('present').filter((value) => !gone.includes(value))
  }
  return { env: { ACME_DNS: 'exec', ACME_DNS_EXEC: path }, calls: read }
}

describe('by a program', () => {
  test('one order names both, the values stand side by side and are removed; no host asks for one of its own', async () => {
    const { env, calls } = program()
    await start(env)
    const files = { 'index.html': 'home' }
    const deployment = { owner: 'acme', repo: 'docs', sha: '1'.repeat(40), alias: 'production', files }
    const { projectId, aliasHost } = await seedDeployment(world.app, deployment)
    world.app.ctx.db.sqlite.run(
      `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at)
       VALUES ('d', ?, ?, 'production', 'x', 'base_domain', 0, 0, 0)`,
      [projectId, `docs.${BASE}`],
    )
    await untilStatus('valid')
    expect(hosts()).toEqual(BOTH)
    expect(calls().map(([what, name]) => `${what} ${name}`)).toEqual([
      ...Array(2).fill(`present ${NAME}.`),
      ...Array(2).fill(`cleanup ${NAME}.`),
    ])
    expect(new Set(calls().map(([, , value]) => value)).size).toBe(2)
    // No secret of svc is in the environment of the program.
    expect(new Set(calls().map(([, , , secrets]) => secrets))).toEqual(new Set(['|']))
    for (const host of [`admin.${BASE}`, `docs.${BASE}`, aliasHost ?? '', `new.${BASE}`])
      expect(world.certificates().stateOf(host)).toMatchObject({ status: 'active', error: null })
    for (const host of [aliasHost ?? '', `docs.${BASE}`]) world.certificates().visited(host)
    later()
    later()
    expect(world.ca.ordered).toEqual([BASE])
    expect(world.certificates().list()).toEqual([])
    expect(wildcard()).toEqual({
      hosts: BOTH,
      provider: 'exec',
      status: 'valid',
      expiresAt: NOON + LIFETIME_MS,
      renewAt: NOON + (LIFETIME_MS / 3) * 2,
      triedAt: NOON,
      error: null,
      record: null,
    })
    await world.restart()
    expect([hosts(), wildcard()?.status]).toEqual([BOTH, 'valid'])
  })

  test('a program that fails is named with its last line, and what was set before is removed', async () => {
    const { env, calls } = program(
      '[ "$1" = present ] && [ -e "$0.once" ] && { echo first >&2; echo no such zone >&2; exit 3; }\ntouch "$0.once"',
    )
    await start(env)
    await untilStatus('failed')
    expect(wildcard()?.error).toBe('The program in ACME_DNS_EXEC ended with 3: no such zone (present)')
    await until('the removal', () => stored().shown?.length === 0)
    expect(calls().filter(([what]) => what === 'cleanup').length).toBeGreaterThan(0)
    expect(dns.textsAt(NAME)).toEqual([])
  })

  test('the authority is not asked before the resolvers show the values', async () => {
    const { env } = program()
    await start(env)
    dns.more = () => ['another']
    await untilStatus('failed')
    expect(wildcard()?.error).toBe(
      `The TXT record ${NAME} is not yet at ${dns.address}, which shows "another" after 1 s`,
    )
  })

  test('what a crash left in the DNS is removed at the next start', async () => {
    const { env, calls } = program()
    await start(env)
    await untilStatus('valid')
    await world.certificates().stop()
    const left = { name: NAME, value: 'left' }
    writeFileSync(certFile(FILE), JSON.stringify({ ...stored(), shown: [left] }))
    await world.restart()
    await until('the removal', () => stored().shown.length === 0)
    expect(calls().at(-1)?.slice(0, 3)).toEqual(['cleanup', `${NAME}.`, 'left'])
  })

  test('a removal that hangs does not hold up the end: the next start goes on with it', async () => {
    const { env } = program('[ "$1" = cleanup ] && { touch "$0.hangs"; exec sleep 50; }')
    await start(env)
    await until('the removal', () => existsSync(join(folder, 'program.hangs')))
    await world.certificates().stop()
    expect(stored().shown).toHaveLength(2)
  })

  test('certificates of single hosts are served until the wildcard is there', async () => {
    await start({}, 'http-01')
    await until('the certificate', () => hosts().length === 1)
    const { env } = program()
    Object.assign(
      world.app.ctx.config,
      withSettings({ BASE_DOMAIN: BASE, ...env }, ['acmeDns', 'acmeDnsExec']),
    )
    Object.assign(world.app.ctx.config, { acmeDnsResolvers: null })
    await world.restart()
    world.ca.faults.challengeType = 'tls-alpn-01'
    await untilStatus('failed')
    expect([hosts(), world.certificates().stateOf(`admin.${BASE}`).status]).toEqual([
      [`admin.${BASE}`],
      'active',
    ])
    const resolvers = [{ host: '127.0.0.1', port: Number(dns.address.split(':')[1]) }]
    Object.assign(world.app.ctx.config, { acmeDnsResolvers: resolvers })
    world.ca.faults.challengeType = 'dns-01'
    later()
    await untilStatus('valid')
    await until('the other to be dropped', () => hosts().join() === BOTH.join())
    await world.certificates().stop()
    expect(readdirSync(certFile('')).filter((name) => name.startsWith('host-'))).toEqual([FILE])
  })

  test('the wildcard is served until it ends where ACME_DNS is unset', async () => {
    const { env } = program()
    await start(env)
    await untilStatus('valid')
    Object.assign(world.app.ctx.config, { acmeDns: null, acmeDnsExec: null })
    world.ca.faults.challengeType = 'http-01'
    await world.restart()
    await until('one of its own', () => hosts().length === 3)
    expect([wildcard(), hosts().sort()]).toEqual([null, [`*.${BASE}`, `admin.${BASE}`, BASE]])
    expect(world.certificates().list()).toContainEqual({
      host: `*.${BASE}`,
      status: 'active',
      expiresAt: NOON + LIFETIME_MS,
      error: null,
      method: 'dns-01',
    })
    world.advance(LIFETIME_MS - HOUR_MS)
    await until('the renewal', () => world.ca.ordered.filter((name) => name === `admin.${BASE}`).length === 2)
    expect(hosts()).toContain(`*.${BASE}`)
    later()
    expect(hosts()).not.toContain(`*.${BASE}`)
    expect(world.ca.ordered.filter((name) => name === BASE)).toHaveLength(1)
    await world.certificates().stop()
    expect(existsSync(certFile(FILE))).toBe(false)
  })
})

test('acme-dns: an account is made once and kept sealed; the CNAME to set is shown until it is there', async () => {
  const updates: string[] = []
  let registered = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { subdomain: string; txt: string }
      if (new URL(request.url).pathname === '/register') {
        registered += 1
        const names = {
          username: 'user-1',
          password: 'pass-1',
          subdomain: 'sub',
          fulldomain: 'Sub.Auth.test.',
        }
        return Response.json({ ...names, allowfrom: [] }, { status: 201 })
      }
      const { headers } = request
      if (headers.get('x-api-user') !== 'user-1' || headers.get('x-api-key') !== 'pass-1')
        return Response.json({ error: 'forbidden pass-1' }, { status: 401 })
      updates.push(body.txt)
      dns.texts.set('sub.auth.test', updates.slice(-2))
      return Response.json({ txt: body.txt })
    },
  })
  try {
    await start({ ACME_DNS: 'acme-dns', ACME_DNS_URL: `http://127.0.0.1:${server.port}` })
    await untilStatus('failed')
    const record = { name: NAME, type: 'CNAME', value: 'sub.auth.test' } as const
    expect(wildcard()).toMatchObject({ record, error: expect.stringContaining(`no CNAME record at ${NAME}`) })
    dns.cnames.set(NAME, 'next.test')
    dns.cnames.set('next.test', 'sub.auth.test')
    later()
    await untilStatus('valid')
    expect([registered, updates.length, wildcard()?.record]).toEqual([1, 2, record])
    await world.certificates().stop()
    const kept = readdirSync(certFile('')).map((name) => readFileSync(certFile(name), 'utf8'))
    expect(kept.length).toBe(3)
    expect(JSON.stringify([world.app.lines, kept, wildcard()])).not.toContain('pass-1')
  } finally {
    await server.stop(true)
  }
})

test('persist: the record is shown, looked for, and answered for good', async () => {
  await start({ ACME_DNS: 'persist' }, 'dns-persist-01')
  await untilStatus('failed')
  const record = wildcard()?.record
  expect(record).toEqual({
    name: `_validation-persist.${BASE}`,
    type: 'TXT',
    value: expect.stringMatching(
      /^ca\.test; accounturi=https:\/\/ca\.test:\d+\/account\/[\w-]+; policy=wildcard$/,
    ),
  })
  dns.texts.set(record?.name ?? '', [record?.value ?? ''])
  later()
  await untilStatus('valid')
  expect(hosts()).toEqual(BOTH)
})

test.each([
  ['exec', 'dns-01'],
  ['persist', 'dns-persist-01'],
])('an authority that does not offer what %s needs is named', async (name, kind) => {
  await start(name === 'exec' ? program().env : { ACME_DNS: name }, 'http-01')
  await untilStatus('failed')
  expect(wildcard()?.error).toContain(`(${kind})`)
})

test('CNAMEs that lead in a circle are named', async () => {
  await start(program().env)
  dns.cnames.set(NAME, 'there.test')
  dns.cnames.set('there.test', NAME)
  await untilStatus('failed')
  expect(wildcard()?.error).toBe(`${NAME} leads over more than 8 CNAME records`)
})

test('more than eight CNAMEs are not followed', async () => {
  await start(program().env)
  for (let i = 0; i < 10; i += 1) dns.cnames.set(i === 0 ? NAME : `c${i}.test`, `c${i + 1}.test`)
  await untilStatus('failed')
  expect(wildcard()?.error).toBe(`${NAME} leads over more than 8 CNAME records`)
})

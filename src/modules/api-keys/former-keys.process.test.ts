import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../../migrations/index.ts'
import { migrate } from '../../db/migrate.ts'
import { hashToken } from '../../platform/tokens.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'

/** A data directory of the version before, with keys of people who are gone: it starts, serves, checks and is backed up. */
const data = makeDataDir()
const copy = makeDataDir()
const ENV = { SECRET_KEY: Buffer.alloc(32, 3).toString('base64') }
const KEYS: [key: string, status: number, error: string | undefined][] = [
  ['svc_admin', 200, undefined],
  ['svc_demoted', 401, 'API_KEY_SUSPENDED'],
  ['svc_gone', 401, 'API_KEY_SUSPENDED'],
  ['svc_cli', 200, undefined],
  ['svc_unknown', 401, 'Unauthorized'],
]
let server: ServerProcess | undefined

beforeAll(() => {
  const sqlite = new Database(join(data.path, 'svc.db'))
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0017'),
  )
  sqlite.run(`
    INSERT INTO users (id, email, role, created_at, updated_at) VALUES
      ('admin', 'a@x.ch', 'admin', 1, 1), ('demoted', 'd@x.ch', 'user', 1, 1);
    INSERT INTO audit_log (id, at, actor_kind, actor_id, credential, action, target_kind, target_id)
      VALUES ('a1', 1, 'user', 'gone', 'session', 'api-key.create', 'api-key', 'svc_gone');`)
  const add = sqlite.query(
    'INSERT INTO api_keys (id, name, prefix, token_hash, is_global, created_by, created_at) VALUES (?1, ?1, ?1, ?2, 1, ?3, 1)',
  )
  for (const maker of ['admin', 'demoted', null]) {
    const key = `svc_${maker ?? 'cli'}`
    add.run(key, hashToken(key), maker)
  }
  add.run('svc_gone', hashToken('svc_gone'), null)
  sqlite.close()
})
afterAll(async () => {
  await stop()
  data.remove()
  copy.remove()
})

async function stop(): Promise<void> {
  server?.signal('SIGTERM')
  await server?.exited
  server = undefined
}

async function verifyKeys(): Promise<void> {
  for (const [key, status, error] of KEYS) {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${server?.url}/api/projects`, { headers })
    const body = (await answer.json()) as { error?: string }
    expect({ key, status: answer.status, error: body.error }).toEqual({ key, status, error })
  }
  expect(await (await fetch(`${server?.url}/metrics`)).text()).toContain('svc_api_keys_suspended 2\n')
}

const check = (path: string) => runSvc(['check', '--data-dir', path], { env: ENV })

test('it starts, serves and checks', async () => {
  server = await startServer(data.path, ENV)
  await verifyKeys()
  expect(await check(data.path)).toMatchObject({ code: 0, stdout: 'all is well\n' })
}, 60_000)

test('a backup holds suspensions and who may use a secret', async () => {
  const { url } = server ?? {}
  const form = new FormData()
  for (const [name, value] of Object.entries({ owner: 'acme', repo: 'site', commitSha: 'abc1234' }))
    form.append(name, value)
  form.append('file', new File(['x'], 'index.html'))
  const headers = { 'x-api-key': 'svc_admin' }
  expect((await fetch(`${url}/api/assets/upload`, { method: 'POST', headers, body: form })).status).toBe(201)
  const open = new Database(join(data.path, 'svc.db'))
  open.run("INSERT INTO project_secrets SELECT id, 'PAY', 'sealed', 0, 'admin' FROM projects")
  open.close()
  const file = join(copy.path, 'backup')
  expect((await runSvc(['backup', file, '--data-dir', data.path], { env: ENV })).code).toBe(0)
  await stop()
  const restored = join(copy.path, 'data')
  expect((await runSvc(['restore', file, '--data-dir', restored], { env: ENV })).code).toBe(0)
  server = await startServer(restored, ENV)
  await verifyKeys()
  const secrets = new Database(join(restored, 'svc.db'), { readonly: true })
  expect(secrets.query('SELECT name, usable_by FROM project_secrets').values()).toEqual([['PAY', 'admin']])
  secrets.close()
}, 60_000)

test('svc check names a key that works though its maker is gone', async () => {
  const sqlite = new Database(join(data.path, 'svc.db'))
  sqlite.run('UPDATE api_keys SET suspended_at = NULL, suspended_reason = NULL')
  sqlite.close()
  const { code, stdout } = await check(data.path)
  expect(code).toBe(1)
  for (const line of [
    'api_key_maker: API key svc_gone… (svc_gone) is not suspended, though the person who made it is gone: revoke it\n',
    'api_key_maker: API key svc_demoted… (svc_demoted) is not suspended, though the person who made it is no administrator any more: revoke it\n',
  ])
    expect(stdout).toContain(line)
  expect(stdout).not.toContain('svc_admin')
  expect(stdout).not.toContain('svc_cli')
}, 60_000)

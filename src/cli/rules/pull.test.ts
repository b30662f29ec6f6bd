import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rulesCommand } from '../rules.ts'
import { runCommand } from '../run-command.ts'
import { testIo } from '../testing/test-io.ts'

/** A server that is not what it should be: it may name whatever it likes. */
let server: Bun.Server<undefined>
let schemaName: string
let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-pull-')))
  mkdirSync(join(folder, 'inner'))
  const answers: Record<string, () => unknown> = {
    '/api/projects/acme/site': () => ({ id: 'p' }),
    '/api/proxy-rule-sets/project/p': () => ({ ruleSets: [{ id: 's', name: 'book' }] }),
    '/api/proxy-rule-sets/s/export': () => ({
      ruleSet: { name: 'book', description: null, environment: null },
      rules: [],
      schemas: [{ name: schemaName, fields: [] }],
    }),
  }
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => Response.json(answers[new URL(request.url).pathname]?.()),
  })
})
afterEach(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

async function pull() {
  const env = { PATH: process.env['PATH'], SVC_API_KEY: 'svc_key', GIT_CEILING_DIRECTORIES: tmpdir() }
  const io = testIo({ env, cwd: join(folder, 'inner') })
  const args = ['rules', 'pull', 'book', '--project', 'acme/site', '--api-url', server.url.origin]
  const code = await runCommand({ rules: () => rulesCommand }, args, io, 'serve')
  return { code, err: io.err() }
}

test('writes what the server has into the folder of the set', async () => {
  schemaName = 'notes'
  expect(await pull()).toEqual({ code: 0, err: '' })
  expect(readdirSync(join(folder, 'inner/.svc/proxy-rules/book/schemas'))).toEqual(['notes.schema.yaml'])
})

test.each(['../../../../../evil', '../../../../../.bashrc'])('a server cannot write to %s', async (name) => {
  schemaName = name
  const { code, err } = await pull()
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('what no svc answers') })
  expect(readdirSync(folder)).toEqual(['inner'])
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey } from '../../testing/seed-people.ts'
import { listening, type TestApp, testApp } from '../../testing/test-app.ts'
import { aliasCommand } from '../alias.ts'
import type { Commands, Io } from '../command.ts'
import { compareCommand } from '../compare.ts'
import { listCommand } from '../list.ts'
import { openCommand } from '../open.ts'
import { rollbackCommand } from '../rollback.ts'
import { runCommand } from '../run-command.ts'
import { testIo } from '../testing/test-io.ts'

/** `svc list`, `rollback`, `alias` and `open` against a server on a port. contract 16 §7. */
const commands: Commands = {
  list: () => listCommand,
  compare: () => compareCommand,
  rollback: () => rollbackCommand,
  alias: () => aliasCommand,
  open: () => openCommand,
}
const shaOf = (letter: string): string => letter.repeat(40)

let app: TestApp
let server: Bun.Server<undefined>
let key = ''
let a: Seeded
let b: Seeded

beforeAll(async () => {
  app = await testApp()
  a = await publish('a')
  b = await publish('b')
  key = seedKey(app, a.projectId)
  server = listening(app)
})
afterAll(async () => {
  await server.stop(true)
  app.close()
})

async function publish(letter: string, repo = 'docs'): Promise<Seeded> {
  app.advance(1000)
  const files = { 'index.html': letter }
  return seedDeployment(app, { owner: 'Acme', repo, sha: shaOf(letter), alias: 'production', files })
}

async function run(line: string, given: Partial<Io> = {}) {
  const env = { SVC_API_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: key }
  const io = testIo({ env, cwd: '/', ...given })
  app.advance(1000)
  const args = line.split(' ')
  const withProject = args.includes('--project') ? args : [...args, '--project', 'acme/docs']
  const code = await runCommand(commands, withProject, io, 'list')
  return { code, out: io.out(), err: io.err(), opened: io.opened }
}
const json = async (line: string) => JSON.parse((await run(`${line} --json`)).out)

test('list: the newest first, with their aliases, as many as asked', async () => {
  const { deployments } = await json('list')
  expect(deployments.map((one: { id: string }) => one.id)).toEqual([b.deploymentId, a.deploymentId])
  expect(deployments[0]).toMatchObject({ commitSha: shaOf('b'), aliases: ['production'] })
  expect((await json('list --limit 1')).deployments).toHaveLength(1)
  expect((await json('list --alias production')).deployments).toHaveLength(1)
  expect((await json('list --alias nothing')).deployments).toEqual([])
  const { code, out } = await run('list')
  expect([code, out.split('\n')[0]]).toEqual([0, '#2    bbbbbbbbbbbb@1  2026-11-20 12:00  [production]'])
})

test('list goes on over pages', async () => {
  for (let at = 0; at < 103; at++)
    await seedDeployment(app, {
      owner: 'acme',
      repo: 'many',
      sha: `${at}`.padStart(40, '0'),
      files: { x: 'x' },
    })
  const many = await app.call('GET', '/api/projects/acme/many', { as: SEED_OWNER })
  const manyKey = seedKey(app, ((await many.json()) as { id: string }).id)
  const given = { env: { SVC_API_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: manyKey } }
  const { out } = await run('list --limit 1000 --json --project acme/many', given)
  const ids = JSON.parse(out).deployments.map((one: { id: string }) => one.id)
  expect([ids.length, new Set(ids).size]).toEqual([103, 103])
})

test('rollback goes there and back again, and to a TARGET', async () => {
  const back = await json('rollback')
  expect(back).toMatchObject({
    alias: { name: 'production', deploymentId: a.deploymentId },
    from: { deploymentId: b.deploymentId, commitSha: shaOf('b') },
    to: { deploymentId: a.deploymentId, commitSha: shaOf('a') },
  })
  const forth = await run('rollback production')
  expect([forth.code, forth.out]).toEqual([
    0,
    expect.stringContaining('production shows #2 bbbbbbbbbbbb@1, was #1 aaaaaaaaaaaa@1: '),
  ])
  for (const target of ['AAAAAAA', shaOf('a'), a.deploymentId, '1', '#1']) {
    expect((await json(`rollback --to ${target}`)).to.deploymentId).toBe(a.deploymentId)
    await run('rollback')
  }
  expect((await run('rollback --to production')).code).toBe(1)
})

test('alias set makes, moves and promotes; list shows them; delete needs more than a key', async () => {
  const made = await json('alias set next aaaaaaa')
  expect([made.from, made.alias.name, made.to.commitSha]).toEqual([null, 'next', shaOf('a')])
  const promoted = await json('alias set production next')
  expect([promoted.from.commitSha, promoted.to.commitSha]).toEqual([shaOf('b'), shaOf('a')])
  expect((await run(`alias set production ${b.deploymentId}`)).code).toBe(0)
  const { aliases } = await json('alias list')
  expect(aliases.map((one: { name: string }) => one.name)).toEqual(['next', 'production'])
  expect((await run('alias list')).out).toMatch(
    /^next {2}#1 aaaaaaaaaaaa@1 {2}http\S+\nproduction {2}#2 bbbbbbbbbbbb@1/,
  )
  const refused = await run('alias delete next')
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining('alias delete'.split(' ')[0] ?? ''),
  ])
})

describe('a commit of several versions', () => {
  const publishAgain = async (content: string, alias: Record<string, string> = {}) => {
    app.advance(1000)
    const body = new FormData()
    const fields = { repository: 'acme/docs', commitSha: shaOf('e'), ...alias }
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    body.append('files', new File([content], 'index.html'))
    const answer = await app.call('POST', '/api/deployments', { key, body })
    return ((await answer.json()) as { deployment: { id: string; version: number } }).deployment
  }

  test('SHA@VERSION is a TARGET, and a SHA means the newest', async () => {
    const first = await publishAgain('one', { alias: 'live' })
    const second = await publishAgain('two')
    const third = await publishAgain('three')
    expect([first, second, third].map(({ version }) => version)).toEqual([1, 2, 3])
    const { deployments } = await json('list --limit 3')
    const listed = deployments.map((one: { version: number; aliases: string[] }) => [
      one.version,
      one.aliases,
    ])
    expect(listed).toEqual([
      [3, []],
      [2, []],
      [1, ['live']],
    ])
    expect((await run('list --limit 3')).out.split('\n').map((line) => line.slice(0, 20))).toEqual([
      '#5    eeeeeeeeeeee@3',
      '#4    eeeeeeeeeeee@2',
      '#3    eeeeeeeeeeee@1',
      '',
    ])
    const set = await json('alias set live EEEEEEE@2')
    expect([set.from.version, set.to]).toEqual([
      1,
      { deploymentId: second.id, number: 4, commitSha: shaOf('e'), version: 2 },
    ])
    expect((await json('alias set live eeeeeee')).to.deploymentId).toBe(third.id)
    expect((await json('rollback live')).to.version).toBe(2)
    expect((await json('rollback live --to eeeeeee@1')).to.version).toBe(1)
    expect((await run('rollback live')).out).toContain(
      'live shows #4 eeeeeeeeeeee@2, was #3 eeeeeeeeeeee@1: ',
    )
    const urlOf = async (target: string) => (await json(`open ${target} --print`)).url
    expect(await urlOf('eeeeeee@2')).toContain('eeeeeeeeeeee-v2--docs--acme')
    expect(await urlOf('eeeeeee')).toContain('eeeeeeeeeeee--docs--acme')
    expect(await urlOf(first.id)).toContain('eeeeeeeeeeee-v1--docs--acme')
  })
})

test('a number is a TARGET; an alias of exactly that name comes first, #N is always the number', async () => {
  const idOf = async (target: string) => (await json(`alias set tried ${target}`)).to.deploymentId
  expect([await idOf('1'), await idOf('#2')]).toEqual([a.deploymentId, b.deploymentId])
  expect((await run(`alias set 1 ${b.deploymentId}`)).code).toBe(0)
  expect([await idOf('1'), await idOf('#1')]).toEqual([b.deploymentId, a.deploymentId])
})

test('open names the address, and opens it unless it is only to be printed', async () => {
  const opened = await run('open')
  expect([opened.code, opened.opened, opened.out]).toEqual([
    0,
    [expect.stringContaining('production--docs--acme')],
    `${opened.opened[0]}\n`,
  ])
  const printed = await run('open aaaaaaa --print --json')
  expect([printed.opened, JSON.parse(printed.out).url]).toEqual([
    [],
    expect.stringContaining('aaaaaaaaaaaa--docs--acme'),
  ])
  const nowhere = await run('open', { openUrl: async () => false })
  expect([nowhere.code, nowhere.err]).toEqual([0, expect.stringContaining('open the address yourself')])
})

const WRONG: [line: string, code: number, says: string][] = [
  ['list now', 2, 'usage: svc list'],
  ['list --limit 0', 2, '--limit is a number'],
  ['list --limit 1e3', 2, '--limit is a number'],
  ['list --alias a/b', 2, 'no name of an alias'],
  ['rollback a/b', 2, 'no name of an alias'],
  ['rollback one two', 2, 'one alias at a time'],
  ['rollback --to ../x', 2, 'neither a number'],
  ['rollback --to aaaaaaa@0', 2, 'neither a number'],
  ['rollback --to production@1', 2, 'neither a number'],
  ['rollback --to aaaaaaa@9', 1, 'has no version 9 of the commit aaaaaaa'],
  ['rollback nothing', 1, 'acme/docs has no alias nothing'],
  ['rollback --to ccccccc', 1, 'no deployment of the commit ccccccc'],
  ['rollback --to 01934f5e-7c00-7000-8000-000000000000', 1, 'has no deployment 01934f5e'],
  ['rollback next', 1, 'has shown no other deployment'],
  ['rollback --to #0', 2, 'neither a number'],
  ['rollback --to #', 2, 'neither a number'],
  ['rollback --to #1e3', 2, 'neither a number'],
  ['rollback --to 0', 1, 'has no alias 0'],
  ['rollback --to 1e3', 1, 'has no alias 1e3'],
  ['rollback --to 999', 1, 'has no deployment #999'],
  ['rollback --to #99999999999', 1, 'has no deployment #99999999999'],
  ['rollback --to 9999999', 1, 'no deployment of the commit 9999999'],
  ['alias', 2, 'list, set or delete'],
  ['alias toString', 2, 'list, set or delete'],
  ['alias list now', 2, 'flags only'],
  ['alias set next', 2, 'a TARGET'],
  ['alias set next aaaaaaa bbbbbbb', 2, 'a TARGET'],
  ['alias set aaaaaaa production', 2, 'no name of an alias'],
  ['alias delete', 2, 'the name of one alias'],
  ['alias delete nothing', 1, 'has no alias nothing'],
  ['open a b', 2, 'one TARGET'],
  ['open a/b', 2, 'neither a number'],
  ['open nothing', 1, 'has no alias nothing'],
  ['open --api-url http://127.0.0.1:9', 3, 'not reachable'],
  ['list --api-key svc_wrong', 1, 'API key'],
  ['list --project docs', 2, 'no project'],
]
test.each(WRONG)('svc %s: %d', async (line, code, says) => {
  const result = await run(line)
  expect([result.code, result.err]).toEqual([code, expect.stringContaining(says)])
  expect(result.out).toBe('')
})

test('a deployment of another project that the key reaches is no TARGET', async () => {
  const other = await publish('d', 'elsewhere')
  await app.addUser('root@example.com', 'admin')
  const made = await app.call('POST', '/api/api-keys', {
    as: 'root@example.com',
    json: { name: 'all', isGlobal: true },
  })
  const env = {
    SVC_API_URL: `http://127.0.0.1:${server.port}`,
    SVC_API_KEY: ((await made.json()) as { key: string }).key,
  }
  expect((await run(`open ${other.deploymentId}`, { env })).code).toBe(1)
  expect((await run(`open ${other.deploymentId} --project acme/elsewhere --print`, { env })).code).toBe(0)
})

describe('compare', () => {
  const files = { same: 's', 'old.txt': 'moves\n', 'a.txt': 'one\ntwo\n' }
  const given = (cwd = '/') => ({
    cwd,
    env: { SVC_API_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: compareKey },
  })
  let compareKey = ''
  beforeAll(async () => {
    const seeds = [files, { same: 's', 'new.txt': 'moves\n', 'a.txt': 'one\n2\n', 'b.bin': '\0' }]
    for (const [at, content] of seeds.entries()) {
      app.advance(1000)
      const { projectId } = await seedDeployment(app, {
        owner: 'acme',
        repo: 'compared',
        sha: shaOf(String(at + 1)),
        files: content,
      })
      compareKey ||= seedKey(app, projectId)
    }
  })
  const compare = (flags: string) =>
    run(`compare ${shaOf('1')} ${shaOf('2')} ${flags}--project acme/compared`, given())

  test('lists what differs', async () => {
    expect(await compare('')).toMatchObject({
      code: 0,
      out: 'changed  a.txt\nadded    b.bin\nmoved    old.txt → new.txt\n',
    })
    const { counts, data, from } = JSON.parse((await compare('--json ')).out)
    expect([counts, data.length, from.commitSha]).toEqual([
      { added: 1, changed: 1, removed: 0, moved: 1, unchanged: 1 },
      3,
      shaOf('1'),
    ])
  })

  test('its exit code says whether they differ, if asked', async () => {
    expect((await compare('--exit-code ')).code).toBe(1)
    const same = await run(`compare ${shaOf('1')} ${shaOf('1')} --exit-code --project acme/compared`, given())
    expect([same.code, same.out]).toEqual([0, ''])
    expect((await run(`compare ${shaOf('1')} --project acme/compared`, given())).code).toBe(2)
    expect((await run(`compare ${shaOf('1')} ${shaOf('9')} --project acme/compared`, given())).code).toBe(1)
  })

  test('its patch makes the one of the other', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'svc-compare-'))
    for (const [path, content] of Object.entries(files)) writeFileSync(join(cwd, path), content)
    const { out } = await compare('--patch ')
    Bun.spawnSync(['patch', '-p1'], { cwd, stdin: Buffer.from(out) })
    const read = (path: string) => readFileSync(join(cwd, path), 'utf8')
    expect(readdirSync(cwd).toSorted()).toEqual(['a.txt', 'b.bin', 'new.txt', 'same'])
    expect([read('a.txt'), read('b.bin'), read('new.txt')]).toEqual(['one\n2\n', '\0', 'moves\n'])
    rmSync(cwd, { recursive: true })
  })
})

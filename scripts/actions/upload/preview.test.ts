import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Comment, type Flavor, type Forge, startForge } from '../../../src/cli/testing/forge-server.ts'
import { type ManifestServer, startManifestServer } from '../../../src/cli/testing/manifest-server.ts'
import { runUploadAction } from '../../../src/cli/testing/run-action.ts'

/** Previews, comments and deployments of the upload action. contract 16 §2. */
const KEY = 'svc_0123456789'
const MERGE = '0'.repeat(40)
const HEAD = 'fedcba9876543210fedcba9876543210fedcba98'
const MARKER = '<!-- svc-preview:acme/site:pr-7 -->'

let workspace: string
let server: ManifestServer
let forge: Forge

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'svc-preview-'))
  writeFileSync(join(workspace, 'index.html'), 'hi')
  server = startManifestServer(KEY)
  forge = startForge('github')
})
afterEach(async () => {
  server.stop()
  await forge.stop()
  rmSync(workspace, { recursive: true })
})

async function useForge(flavor: Flavor): Promise<void> {
  await forge.stop()
  forge = startForge(flavor)
}

const SAME = { full_name: 'acme/site' }
const pullRequest = (head: object = {}, more: object = {}) => ({
  number: 7,
  pull_request: {
    number: 7,
    title: 'Say hello',
    html_url: 'https://forge.example/acme/site/pull/7',
    head: { ref: 'feature/hello', sha: HEAD, repo: SAME, ...head },
    base: { ref: 'main', repo: SAME },
    ...more,
  },
})

const IN_PULL_REQUEST = {
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_HEAD_REF: 'feature/hello',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_REF_NAME: '7/merge',
}
const ON_MAIN = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' }

function run(
  given: Record<string, string>,
  env: Record<string, string> = IN_PULL_REQUEST,
  event: object = pullRequest(),
) {
  return runUploadAction(
    { 'api-url': server.url, 'api-key': KEY, files: '**', ...given },
    {
      workspace,
      event,
      token: forge.token,
      env: {
        GITHUB_API_URL: forge.apiUrl,
        GITHUB_SERVER_URL: 'https://forge.example',
        GITHUB_REPOSITORY: 'acme/site',
        GITHUB_SHA: MERGE,
        GITHUB_REF_TYPE: 'branch',
        GITHUB_RUN_ID: '42',
        ...env,
      },
    },
  )
}

const noticesIn = (log: string) => log.split('\n').filter((line) => line.startsWith('::notice::'))
const preview = { preview: 'auto' }

test('a pull request becomes pr-7: fields, outputs, one comment, a deployment of the head branch', async () => {
  const { code, log, outputs } = await run({ ...preview, expires: '3d' })
  expect([code, noticesIn(log)]).toEqual([0, []])
  expect(server.manifests[0]).toMatchObject({
    commitSha: HEAD,
    preview: 'pr-7',
    expiresIn: '3d',
    pullRequest: 7,
    pullRequestUrl: 'https://forge.example/acme/site/pull/7',
  })
  expect(server.manifests[0]).not.toHaveProperty('alias')
  expect(outputs).toMatchObject({
    'alias-url': 'http://pr-7--site--acme.localhost/',
    'preview-name': 'pr-7',
    'expires-at': '2030-01-08T00:00:00.000Z',
    version: '1',
    environment: 'preview/pr-7',
  })
  const [comment] = forge.comments
  expect(comment?.body.split('\n')[0]).toBe(MARKER)
  for (const fact of ['pr-7`', 'http://pr-7--site--acme.localhost/', HEAD, '2030-01-08T00:00:00.000Z'])
    expect(comment?.body).toContain(fact)
  expect(forge.deployments).toEqual([
    {
      id: expect.any(Number),
      ref: 'feature/hello',
      environment: 'preview/pr-7',
      auto_merge: false,
      required_contexts: [],
      transient_environment: true,
      production_environment: false,
      statuses: [
        {
          state: 'success',
          environment_url: 'http://pr-7--site--acme.localhost/',
          log_url: 'https://forge.example/acme/site/actions/runs/42',
        },
      ],
    },
  ])
  expect(forge.faults).toEqual([])
})

test('the token is masked, and svc never sees it', async () => {
  const { log } = await run(preview)
  expect(log).toContain(`::add-mask::${forge.token}\n`)
  expect(log.replaceAll(`::add-mask::${forge.token}\n`, '')).not.toContain(forge.token)
  expect(server.requests.length).toBeGreaterThan(0)
  const sent = JSON.stringify([server.requests.map(({ headers }) => [...headers]), server.manifests])
  expect(sent).not.toContain(forge.token)
})

test('pushed again it is the same comment, and closing ends all of it', async () => {
  await run(preview)
  const HEAD_2 = 'a'.repeat(40)
  await run(preview, IN_PULL_REQUEST, pullRequest({ sha: HEAD_2 }))
  expect(forge.comments).toHaveLength(1)
  expect(forge.comments[0]?.body).toContain(HEAD_2)
  const closed = await run({ ...preview, close: 'true', files: '' })
  expect([closed.code, server.ended, server.publishedCount()]).toEqual([0, ['pr-7'], 2])
  expect(closed.outputs).toEqual({ 'preview-name': 'pr-7', environment: 'preview/pr-7' })
  expect(forge.comments).toHaveLength(1)
  expect(forge.comments[0]?.body).toStartWith(`${MARKER}\n`)
  expect(forge.comments[0]?.body).toContain('has ended')
  expect(forge.deployments.map(({ statuses }) => statuses.at(-1))).toEqual([
    { state: 'inactive' },
    { state: 'inactive' },
  ])
  expect(forge.faults).toEqual([])
})

test('closing what is not there: exit 0, and no comment for it', async () => {
  const { code, log } = await run({ ...preview, close: 'true', files: '' })
  expect([code, forge.comments, log]).toEqual([0, [], expect.stringContaining('There is no preview pr-7')])
})

test.each<[what: string, given: Record<string, string>, answer: Response | undefined, code: number]>([
  ['a project that the server does not know', { repo: 'other' }, undefined, 0],
  ['a page that is not found', {}, new Response('<html>', { status: 404 }), 1],
  [
    'a preview that a domain names',
    {},
    Response.json({ message: 'x', error: 'ALIAS_IN_USE' }, { status: 409 }),
    1,
  ],
])('closing, and the server says: %s', async (_what, given, answer, expected) => {
  server.previews.add('pr-7')
  if (answer !== undefined) server.refusals.push(answer)
  const { code } = await run({ ...preview, ...given, close: 'true' })
  expect([code, server.ended]).toEqual([expected, []])
  if (expected === 1) expect(forge.requests).toEqual([])
})

test('with an alias too: a pull request is the preview, a push the alias', async () => {
  const both = { ...preview, alias: 'production', expires: '3d' }
  expect((await run(both)).outputs['environment']).toBe('preview/pr-7')
  const pushed = await run(both, ON_MAIN, { head_commit: { message: 'x' } })
  expect(pushed.outputs).toMatchObject({ environment: 'production', 'preview-name': '', 'expires-at': '' })
  expect(server.manifests[1]?.alias).toBe('production')
  for (const field of ['preview', 'expiresIn']) expect(server.manifests[1]).not.toHaveProperty(field)
  expect(forge.deployments[1]).toMatchObject({
    ref: 'main',
    environment: 'production',
    transient_environment: false,
    production_environment: true,
  })
  expect([forge.comments.length, forge.faults]).toEqual([1, []])
})

test.each([
  ['feature/Hello_World', 'feature-hello-world'],
  ['deadbeef', 'b-deadbeef'],
  ['--Ünïcode--', 'n-code'],
  [`${'x'.repeat(39)}/yyy`, 'x'.repeat(39)],
  ['fix/#12 (now)', 'fix-12-now'],
])('auto on the branch %s: %s', async (branch, name) => {
  const env = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: `refs/heads/${branch}`, GITHUB_REF_NAME: branch }
  const { outputs } = await run(preview, env, {})
  expect(outputs['preview-name']).toBe(name)
  expect([forge.comments.length, forge.deployments[0]?.['ref']]).toEqual([0, branch])
})

test('the end of a branch closes its preview, not that of the default branch', async () => {
  server.previews.add('feature-a').add('main')
  const env = { ...ON_MAIN, GITHUB_EVENT_NAME: 'delete' }
  await run({ ...preview, close: 'true' }, env, { ref: 'feature/a', ref_type: 'branch' })
  expect(server.ended).toEqual(['feature-a'])
})

test.each([
  ['a branch of no letters', { preview: 'auto' }, '日本', 'neither a pull request nor a branch'],
  ['no name', { preview: 'a --> b' }, 'main', 'is no name'],
  ['a SHA', { preview: 'deadbeef' }, 'main', 'is no name'],
  ['close without a preview', { close: 'true' }, 'main', 'name it with the input preview'],
  ['close that is neither', { preview: 'x', close: 'yes' }, 'main', 'is true or false'],
])('%s is an error', async (_what, given, branch, says) => {
  const { code, log } = await run(given, { ...ON_MAIN, GITHUB_REF_NAME: branch }, {})
  expect([code, log]).toEqual([1, expect.stringContaining(says)])
  expect(server.requests).toEqual([])
})

test('comment and deployment can be turned off; without a token or a name there is neither', async () => {
  await run({ ...preview, comment: 'false', deployment: 'false' })
  await run({ ...preview, 'github-token': '' })
  await run({})
  expect(forge.requests).toEqual([])
  expect(server.publishedCount()).toBe(3)
})

test('Forgejo: its one comment without pages, and a commit status in place of a deployment', async () => {
  await useForge('forgejo')
  for (let at = 0; at < 120; at++) forge.strangerSays(`comment ${at}`)
  for (const _push of [1, 2]) expect(noticesIn((await run(preview)).log)).toEqual([])
  await run({ ...preview, close: 'true' })
  expect(forge.comments.filter(({ body }) => body.startsWith(MARKER))).toHaveLength(1)
  expect(forge.statuses.get(HEAD)).toEqual([
    { context: 'svc/pr-7', state: 'success', target_url: 'http://pr-7--site--acme.localhost/' },
    { context: 'svc/pr-7', state: 'success', target_url: 'http://pr-7--site--acme.localhost/' },
  ])
  expect(forge.faults).toEqual([])
})

test('a failed publish is a failed deployment, and the job fails', async () => {
  server.refusals.push(Response.json({ message: 'no', error: 'Forbidden' }, { status: 403 }))
  expect((await run(preview)).code).toBe(1)
  expect(forge.deployments[0]?.statuses).toEqual([
    { state: 'failure', log_url: 'https://forge.example/acme/site/actions/runs/42' },
  ])
  expect(forge.comments).toEqual([])
})

test('a locked preview is a warning, and nothing is told of it', async () => {
  server.lockedAliases.add('pr-7')
  const { code, log } = await run(preview)
  expect([code, log]).toEqual([0, expect.stringContaining('::warning::The preview pr-7 is locked')])
  expect(forge.requests).toEqual([])
})

const FORK = pullRequest({ repo: { full_name: 'mallory/site' } })

describe('a fork', () => {
  test.each<[string, Record<string, string>, object]>([
    ['publishing', {}, FORK],
    ['closing', { close: 'true' }, FORK],
    ['whose repository is gone', {}, pullRequest({ repo: null })],
    ['without any setting', { 'api-url': '' }, FORK],
  ])('without a key: a notice, exit 0, nothing sent (%s)', async (_what, given, event) => {
    const { code, log } = await run({ ...preview, 'api-key': '', ...given }, IN_PULL_REQUEST, event)
    expect([code, noticesIn(log).length]).toEqual([0, 1])
    expect([server.requests, forge.requests]).toEqual([[], []])
  })

  test('with a key, and a token that may write nothing: published, and one notice', async () => {
    forge.instead = () =>
      Response.json({ message: 'Resource not accessible by integration' }, { status: 403 })
    const { code, log } = await run(preview, IN_PULL_REQUEST, FORK)
    expect([code, server.publishedCount(), noticesIn(log).length]).toEqual([0, 1, 1])
  })

  test('no fork and no key is an error', async () => {
    expect((await run({ ...preview, 'api-key': '' })).code).toBe(1)
  })
})

describe('hostile threads', () => {
  test('300 comments, strangers copy the marker: only the own one is edited', async () => {
    for (let at = 0; at < 150; at++)
      forge.strangerSays(at % 3 === 0 ? `${MARKER}\nhttps://evil.example` : 'hm')
    await run(preview)
    for (let at = 0; at < 150; at++) forge.strangerSays(`${MARKER}\r\nhttps://evil.example`)
    const before = forge.comments.filter(({ author }) => author.type === 'User').map(({ body }) => body)
    await run(preview, IN_PULL_REQUEST, pullRequest({ sha: 'b'.repeat(40) }))
    await run({ ...preview, close: 'true' })
    expect(forge.comments.filter(({ author }) => author.type === 'User').map(({ body }) => body)).toEqual(
      before,
    )
    const own = forge.comments.filter(({ author }) => author.type === 'Bot')
    expect(own.map(({ body }) => body)).toEqual([expect.stringContaining('has ended')])
    expect(forge.faults).toEqual([])
  })

  test('a token of a person knows its own comments by their author', async () => {
    const me = { id: 5, login: 'ann', type: 'User' }
    forge.instead = (method, path) => (method === 'GET' && path === '/user' ? Response.json(me) : undefined)
    forge.comments.push({ id: 1, body: MARKER, author: { id: 41_898_282, login: 'x[bot]', type: 'Bot' } })
    await run(preview)
    expect(forge.comments.map(({ body }) => body)).toEqual([MARKER, expect.stringContaining('**Preview')])
  })

  test.each([429, 500, 503])(
    'a forge that answers %d to who that is gets no second comment',
    async (status) => {
      const me = { id: 5, login: 'ann', type: 'User' }
      forge.comments.push({ id: 1, body: MARKER, author: me })
      forge.instead = (method, path) =>
        method === 'GET' && path === '/user' ? Response.json({ message: 'later' }, { status }) : undefined
      const { code, log } = await run({ ...preview, deployment: 'false' })
      expect([code, noticesIn(log).length]).toEqual([0, 1])
      expect(forge.comments.map(({ body }) => body)).toEqual([MARKER])
    },
  )

  test('where an account has a name and no number, the name counts', async () => {
    forge.instead = (method, path) =>
      method === 'GET' && path === '/user' ? Response.json({ login: 'ci' }) : undefined
    const authors = [
      { id: 3, login: 'CI' },
      { login: 'ci-2', type: 'Bot' },
      { login: 'ci' },
    ] as Comment['author'][]
    forge.comments.push(...authors.map((author, at) => ({ id: at, body: MARKER, author })))
    await run(preview)
    expect(forge.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path)[0]).toBe(
      '/repos/acme/site/issues/comments/2',
    )
  })

  test('the marker anywhere but in the first line is no marker', async () => {
    const author = { id: 41_898_282, login: 'github-actions[bot]', type: 'Bot' }
    forge.comments.push({ id: 1, body: `> ${MARKER}`, author }, { id: 2, body: `x\n${MARKER}`, author })
    await run(preview)
    expect(forge.comments).toHaveLength(3)
  })

  test('titles and branches that try to be commands or Markdown', async () => {
    const evil = 'a\n::set-output name=x::y\n--> [x](javascript:alert(1)) ##[error]<script>'
    const event = pullRequest({ ref: evil }, { title: evil, html_url: 'javascript:alert(1)' })
    const { code, log, outputs } = await run(preview, { ...IN_PULL_REQUEST, GITHUB_HEAD_REF: evil }, event)
    expect(code).toBe(0)
    expect(log).not.toMatch(/^\s*::set-output/m)
    expect(log).not.toContain('##[')
    expect(Object.keys(outputs)).not.toContain('x')
    expect(forge.comments[0]?.body).not.toMatch(/javascript|script>|set-output/)
    expect(forge.comments[0]?.body.match(/-->/g)).toHaveLength(1)
    expect(forge.deployments[0]?.['ref']).toBe(evil)
    expect(server.manifests[0]).not.toHaveProperty('pullRequestUrl')
  })
})

const json = (status: number) => () => Response.json({ message: 'no\n::error::x' }, { status })
const FORGE_ANSWERS: [what: string, answer: () => Response | Promise<Response>][] = [
  ...[301, 401, 403, 404, 409, 422, 429, 500, 503].map((status): [string, () => Response] => [
    String(status),
    json(status),
  ]),
  ['HTML', () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })],
  ['JSON that is no list and no record', () => Response.json(5)],
  ['null', () => Response.json(null)],
]
describe.each(FORGE_ANSWERS)('the forge answers %s to everything', (_what, answer) => {
  test('the job stays green and the publish stands', async () => {
    forge.instead = answer
    const published = await run(preview)
    expect([published.code, server.publishedCount()]).toEqual([0, 1])
    expect(published.outputs).toMatchObject({ published: 'true' })
    expect(noticesIn(published.log).length).toBeLessThanOrEqual(1)
    expect(published.log).not.toMatch(/^::error/m)
    const closed = await run({ ...preview, close: 'true' })
    expect([closed.code, server.ended]).toEqual([0, ['pr-7']])
  })
})

test('a thread that breaks off in its middle gets no second comment', async () => {
  await run(preview)
  for (let at = 0; at < 250; at++)
    forge.comments.unshift({ id: at, body: 'x', author: { id: 1, login: 'x' } })
  let lists = 0
  forge.instead = (method, path) => {
    if (method === 'GET' && path.endsWith('/comments')) lists += 1
    return lists === 2 ? new Response('', { status: 500 }) : undefined
  }
  const { code, log } = await run({ ...preview, deployment: 'false' })
  expect([code, noticesIn(log).length, forge.comments.length]).toEqual([0, 1, 251])
})

test('nobody there: one notice', async () => {
  const { code, log } = await run(preview, { ...IN_PULL_REQUEST, GITHUB_API_URL: 'http://127.0.0.1:1' })
  expect([code, noticesIn(log)]).toEqual([0, [expect.stringContaining('127.0.0.1:1 is not reachable')]])
  const nowhere = await run(preview, { ...IN_PULL_REQUEST, GITHUB_API_URL: '' })
  expect([nowhere.code, noticesIn(nowhere.log).length]).toEqual([0, 1])
})

test('a forge that never answers is asked once', async () => {
  forge.instead = () => new Promise<Response>(() => {})
  const { code, log } = await run(preview)
  expect([code, noticesIn(log).length, forge.requests.length]).toEqual([0, 1, 1])
}, 30_000)

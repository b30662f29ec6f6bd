import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { previewCommand } from './preview.ts'
import { runCommand } from './run-command.ts'
import { deployFixture } from './testing/deploy-fixture.ts'
import { type Flavor, type Forge, startForge } from './testing/forge-server.ts'
import { testIo } from './testing/test-io.ts'

/** `svc deploy --preview` in the jobs of GitHub, Forgejo and GitLab. contract 16 §2. */
const at = deployFixture()
const HEAD = 'fedcba9876543210fedcba9876543210fedcba98'
const MARKER = '<!-- svc-preview:acme/site:pr-7 -->'
const URL_OF_IT = 'http://pr-7--site--acme.localhost/'

let events: string
let forge: Forge
beforeEach(() => {
  events = mkdtempSync(join(tmpdir(), 'svc-events-'))
  forge = startForge('github')
  at.write('index.html', 'hi')
})
afterEach(async () => {
  await forge.stop()
  rmSync(events, { recursive: true })
})

const base = () => ({ SVC_API_URL: at.server.url, SVC_API_KEY: at.key, PATH: process.env['PATH'] ?? '' })

function githubJob(head: object = { repo: { full_name: 'acme/site' } }): Record<string, string> {
  const GITHUB_EVENT_PATH = join(events, 'event.json')
  const pull_request = {
    number: 7,
    title: 'x',
    html_url: 'https://forge.example/acme/site/pull/7',
    head: { ref: 'feature', sha: HEAD, ...head },
    base: { repo: { full_name: 'acme/site' } },
  }
  writeFileSync(GITHUB_EVENT_PATH, JSON.stringify({ number: 7, pull_request }))
  return {
    ...base(),
    GITHUB_EVENT_PATH,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_API_URL: forge.apiUrl,
    GITHUB_SERVER_URL: 'https://forge.example',
    GITHUB_REPOSITORY: 'acme/site',
    GITHUB_RUN_ID: '42',
    GITHUB_TOKEN: forge.token,
    GITHUB_HEAD_REF: 'feature',
    GITHUB_REF: 'refs/pull/7/merge',
  }
}

async function useForge(flavor: Flavor): Promise<void> {
  await forge.stop()
  forge = startForge(flavor)
}

const gitlabJob = (): Record<string, string> => ({
  ...base(),
  CI_API_V4_URL: forge.apiUrl,
  CI_PROJECT_ID: '1',
  CI_MERGE_REQUEST_IID: '7',
  CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.example/acme/site',
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '1',
  CI_MERGE_REQUEST_PROJECT_ID: '1',
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature',
  GITLAB_TOKEN: forge.token,
})

const deploy = (env: Record<string, string>, ...flags: string[]) =>
  at.deploy(['--sha', HEAD, ...flags], { env, cwd: at.folder })

test('GitHub: the fields, one comment over two pushes, a deployment, and the summary', async () => {
  const flags = ['--preview', 'auto', '--expires', '3d', '--comment']
  const first = await deploy(githubJob(), ...flags)
  expect([first.code, first.out()]).toEqual([0, expect.stringContaining(URL_OF_IT)])
  expect(first.out()).toContain('2030-01-08T00:00:00.000Z')
  expect((await deploy(githubJob(), ...flags)).code).toBe(0)
  expect(at.server.manifests[0]).toMatchObject({
    preview: 'pr-7',
    expiresIn: '3d',
    pullRequest: 7,
    pullRequestUrl: 'https://forge.example/acme/site/pull/7',
  })
  expect(forge.comments.map(({ body }) => body.split('\n')[0])).toEqual([MARKER])
  expect(forge.deployments.map(({ environment, ref }) => [environment, ref])).toEqual([
    ['preview/pr-7', 'feature'],
    ['preview/pr-7', 'feature'],
  ])
  expect(forge.faults).toEqual([])
})

test('Forgejo: a commit status in place of the deployment', async () => {
  await useForge('forgejo')
  expect((await deploy(githubJob(), '--preview', 'auto', '--comment')).code).toBe(0)
  expect([forge.comments.length, forge.statuses.get(HEAD)?.length, forge.faults]).toEqual([1, 1, []])
})

test('GitLab: the fields, one note over two pushes among strangers’ copies, and the file of variables', async () => {
  await useForge('gitlab')
  for (let one = 0; one < 250; one++) forge.strangerSays(`${MARKER}\nhttps://evil.example`)
  const flags = ['--preview', 'auto', '--comment', '--dotenv', 'deploy.env']
  for (const _push of [1, 2]) expect((await deploy(gitlabJob(), ...flags)).code).toBe(0)
  expect(at.server.manifests[0]).toMatchObject({
    preview: 'pr-7',
    pullRequest: 7,
    pullRequestUrl: 'https://gitlab.example/acme/site/-/merge_requests/7',
  })
  const own = forge.comments.filter(({ author }) => author.id === 99)
  expect(own.map(({ body }) => body)).toEqual([expect.stringContaining(URL_OF_IT)])
  expect(forge.comments).toHaveLength(251)
  expect(readFileSync(join(at.folder, 'deploy.env'), 'utf8')).toBe(
    `SVC_PREVIEW_URL=${URL_OF_IT}\nSVC_PREVIEW_NAME=pr-7\nSVC_EXPIRES_AT=2030-01-08T00:00:00.000Z\n`,
  )
  expect(forge.faults).toEqual([])
})

test.each<[what: string, env: () => Record<string, string>, says: string]>([
  ['GitLab without a token', () => ({ ...gitlabJob(), GITLAB_TOKEN: '' }), 'GITLAB_TOKEN is not set'],
  [
    'GitLab without a merge request',
    () => ({ ...gitlabJob(), CI_MERGE_REQUEST_IID: '' }),
    'no merge request',
  ],
  ['GitHub without a token', () => ({ ...githubJob(), GITHUB_TOKEN: '' }), 'GITHUB_TOKEN is not set'],
  ['a laptop', base, 'no job of GitHub'],
  ['nobody there', () => ({ ...githubJob(), GITHUB_API_URL: 'http://127.0.0.1:1' }), 'not reachable'],
])('%s: one note, and published', async (_what, env, says) => {
  const { code, err } = await deploy(env(), '--preview', 'pr-7', '--comment')
  const notes = err()
    .split('\n')
    .filter((line) => line.includes('the forge was not told'))
  expect([code, notes]).toEqual([0, [expect.stringContaining(says)]])
  expect([at.server.publishedCount(), forge.requests]).toEqual([1, []])
})

test.each([401, 403, 404, 422, 429, 500])('GitLab answers %d: published all the same', async (status) => {
  await useForge('gitlab')
  forge.instead = () => new Response('<html>', { status })
  const { code, err } = await deploy(gitlabJob(), '--preview', 'auto', '--comment')
  expect([code, err()]).toEqual([0, expect.stringContaining(`was answered ${status}`)])
  expect(err()).not.toContain(forge.token)
})

test('without --comment nobody is told', async () => {
  expect((await deploy(githubJob(), '--preview', 'auto')).code).toBe(0)
  expect(forge.requests).toEqual([])
})

test('a failed publish is a failed deployment', async () => {
  at.server.refusals.push(Response.json({ message: 'no', error: 'Forbidden' }, { status: 403 }))
  expect((await deploy(githubJob(), '--preview', 'auto', '--comment')).code).toBe(1)
  expect(forge.deployments[0]?.statuses[0]?.state).toBe('failure')
})

test('a fork without a key: a note, exit 0, nothing sent; with a key it is published', async () => {
  const fork = { ...githubJob({ repo: { full_name: 'mallory/site' } }), SVC_API_KEY: '' }
  for (const env of [fork, { ...gitlabJob(), CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '2', SVC_API_KEY: '' }]) {
    const { code, err, out } = await deploy(env, '--preview', 'auto', '--comment', '--json')
    expect([code, err()]).toEqual([0, expect.stringContaining('comes from a fork')])
    expect(JSON.parse(out())).toEqual({ published: false, skipped: 'fork' })
  }
  expect([at.server.requests, forge.requests]).toEqual([[], []])
  expect((await deploy({ ...fork, SVC_API_KEY: at.key }, '--preview', 'auto')).code).toBe(0)
  expect((await deploy({ ...githubJob(), SVC_API_KEY: '' }, '--preview', 'auto')).code).toBe(2)
})

describe('names', () => {
  test.each<[flags: string[], says: string]>([
    [['--preview', 'x', '--alias', 'production'], 'exclude each other'],
    [['--preview', 'x', '--alias', ''], 'exclude each other'],
    [['--alias', 'x', '--expires', '3d'], '--expires belongs to --preview'],
    [['--alias', 'x', '--comment'], '--comment belongs to --preview'],
    [['--dotenv', 'x'], '--dotenv belongs to --preview'],
    [['--preview', 'a b'], 'no name of a preview'],
    [['--preview', ''], 'no name of a preview'],
    [['--preview', 'deadbeef'], 'no name of a preview'],
    [['--preview', 'auto'], 'neither a pull request nor a branch'],
  ])('%j: exit 2, and nothing sent', async (flags, says) => {
    const { code, err } = await deploy(base(), ...flags)
    expect([code, err()]).toEqual([2, expect.stringContaining(says)])
    expect(at.server.requests).toEqual([])
  })

  test.each([
    ['feature/Hello_World', 'feature-hello-world'],
    ['DEADBEEF', 'b-deadbeef'],
    ['x\n--> [a](javascript:1)', 'x-a-javascript-1'],
  ])('auto on the branch %j: %s', async (branch, name) => {
    const { code, out } = await deploy(base(), '--preview', 'auto', '--branch', branch, '--dry-run', '--json')
    expect([code, JSON.parse(out())['preview']]).toEqual([0, name])
  })
})

test('a file of variables that cannot be written is said after publishing', async () => {
  const { code, err } = await deploy(base(), '--preview', 'x', '--dotenv', 'no/such/folder')
  expect([code, err()]).toEqual([1, expect.stringContaining('the preview is published, but no/such/folder')])
  expect(at.server.publishedCount()).toBe(1)
})

test('a locked preview is a note', async () => {
  at.server.lockedAliases.add('x')
  const { code, err } = await deploy(githubJob(), '--preview', 'x', '--comment')
  expect([code, err()]).toEqual([0, expect.stringContaining('the preview x is locked')])
  expect(forge.requests).toEqual([])
})

test.each<[what: string, env: () => Record<string, string>, ended: string]>([
  ['the pull request', githubJob, 'pr-7'],
  ['the merge request', gitlabJob, 'pr-7'],
  ['the branch', () => ({ ...base(), CI_COMMIT_BRANCH: 'Feature/A' }), 'feature-a'],
  ['the branch that is gone', endedBranch, 'feature-b'],
])('svc preview end without a name ends that of %s', async (_what, env, ended) => {
  at.server.previews.add(ended).add('main')
  const end = async () => {
    const io = testIo({ env: env(), cwd: at.folder })
    const args = ['preview', 'end', '--project', 'acme/site', '--json']
    return { code: await runCommand({ preview: () => previewCommand }, args, io, 'serve'), ...io }
  }
  const [first, again] = [await end(), await end()]
  expect([first.code, JSON.parse(first.out()), at.server.ended]).toEqual([0, { ended }, [ended]])
  expect([again.code, JSON.parse(again.out())]).toEqual([0, { ended: null }])
  expect(forge.requests).toEqual([])
})

function endedBranch(): Record<string, string> {
  const GITHUB_EVENT_PATH = join(events, 'delete.json')
  writeFileSync(GITHUB_EVENT_PATH, JSON.stringify({ ref: 'feature/b', ref_type: 'branch' }))
  return { ...base(), GITHUB_EVENT_PATH, GITHUB_EVENT_NAME: 'delete', GITHUB_REF: 'refs/heads/main' }
}

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Flavor, type Forge, startForge } from '../cli/testing/forge-server.ts'
import { type Pipeline, runGitlab } from '../cli/testing/run-gitlab.ts'
import { runShell, runWorkflow, type WorkflowJob } from '../cli/testing/run-workflow.ts'
import { programWith } from '../testing/program.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** The files of docs/ci.md and of the example, run as they stand there: from open to push to close. contract 16 §2. */
const ROOT = join(import.meta.dir, '../..')
const blocks = [...readFileSync(join(ROOT, 'docs/ci.md'), 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, text = '']) => text,
)
const [workflow = '', gitlabCi = ''] = blocks
const example = readFileSync(join(ROOT, 'examples/guestbook/.github/workflows/deploy.yml'), 'utf8')

const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-ci-docs-'))
let server: ServerProcess
let key = ''

beforeAll(async () => {
  const admin = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
  server = await startServer(data.path, admin)
  const made = await runSvc(['key', 'create', 'ci', '--data-dir', data.path])
  key = made.stdout.trim()
  const bin = join(work, 'bin')
  mkdirSync(bin)
  const svc = join(bin, 'svc')
  writeFileSync(svc, `#!/bin/sh\nexec ${programWith().join(' ')} "$@"\n`)
  chmodSync(svc, 0o755)
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  data.remove()
  rmSync(work, { recursive: true })
})

/** A repository whose build copies `src` to `dist`. */
async function makeRepository(name: string): Promise<string> {
  const folder = join(work, name)
  mkdirSync(join(folder, 'src'), { recursive: true })
  const build = 'mkdir -p dist && cp src/* dist/'
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', scripts: { build } }))
  writeFileSync(join(folder, '.gitignore'), 'dist\nnode_modules\n')
  await runShell('npm install --package-lock-only --offline && git init -q', folder)
  return folder
}

/** A commit whose page says `text`; returns its SHA. */
async function commit(folder: string, text: string, page = 'src/index.html'): Promise<string> {
  writeFileSync(join(folder, page), text)
  const as = 'git -c user.name=a -c user.email=a@example.com'
  return (await runShell(`git add -A; ${as} commit -qm '${text}'; git rev-parse HEAD`, folder)).trim()
}

async function show(alias: string, project: string): Promise<string | number> {
  const headers = { host: `${alias}--${project}--acme.localhost`, 'x-api-key': key }
  const answer = await fetch(`${server.url}/`, { headers })
  return answer.ok ? await answer.text() : answer.status
}

const MARKER = '<!-- svc-preview:acme/site:pr-7 -->'

function githubJob(
  forge: Forge,
  workspace: string,
  github: Omit<WorkflowJob['github'], 'token'>,
): WorkflowJob {
  return {
    github: { ...github, token: forge.token },
    vars: { SVC_API_URL: server.url },
    secrets: { SVC_API_KEY: key },
    workspace,
    env: {
      GITHUB_API_URL: forge.apiUrl,
      GITHUB_SERVER_URL: 'https://forge.example',
      GITHUB_REPOSITORY: 'acme/site',
      GITHUB_RUN_ID: '42',
      GITHUB_EVENT_NAME: github.event_name,
      GITHUB_REF: github.ref,
      GITHUB_REF_NAME: github.ref.replace(/^refs\/(heads|pull)\//, ''),
      GITHUB_REF_TYPE: 'branch',
    },
  }
}

const pushed = (forge: Forge, folder: string, sha: string, branch = 'main') => {
  const event = { head_commit: { message: 'x' } }
  const job = githubJob(forge, folder, { event_name: 'push', ref: `refs/heads/${branch}`, event })
  return { ...job, env: { ...job.env, GITHUB_SHA: sha } }
}

const pullRequest = (forge: Forge, folder: string, action: string, sha: string) => {
  const repo = { full_name: 'acme/site' }
  const head = { ref: 'feature/hello', sha, repo }
  const html_url = 'https://forge.example/acme/site/pull/7'
  const event = {
    action,
    number: 7,
    pull_request: { number: 7, title: 'Hello', html_url, head, base: { repo } },
  }
  const job = githubJob(forge, folder, { event_name: 'pull_request', ref: 'refs/pull/7/merge', event })
  return { ...job, env: { ...job.env, GITHUB_SHA: '0'.repeat(40), GITHUB_HEAD_REF: 'feature/hello' } }
}

const ok = { code: 0, log: expect.not.stringMatching(/^::(warning|error)::|was not told/m) }

test.each<Flavor>(['github', 'forgejo'])(
  '%s: production, and a preview from open to close',
  async (flavor) => {
    const forge = startForge(flavor)
    const folder = await makeRepository(flavor)
    await runWorkflow(workflow, pushed(forge, folder, await commit(folder, 'main one')))
    expect(await show('production', 'site')).toBe('main one')
    expect(await runWorkflow(workflow, pushed(forge, folder, 'a'.repeat(40), 'other'))).toBeUndefined()

    const opened = await runWorkflow(
      workflow,
      pullRequest(forge, folder, 'opened', await commit(folder, 'p one')),
    )
    expect(opened).toMatchObject(ok)
    expect(opened?.outputs).toMatchObject({
      'preview-name': 'pr-7',
      environment: 'preview/pr-7',
    })
    expect(Date.parse(opened?.outputs['expires-at'] ?? '')).toBeGreaterThan(0)
    expect([await show('pr-7', 'site'), await show('production', 'site')]).toEqual(['p one', 'main one'])

    const second = await commit(folder, 'p two')
    expect(await runWorkflow(workflow, pullRequest(forge, folder, 'synchronize', second))).toMatchObject(ok)
    expect(await show('pr-7', 'site')).toBe('p two')
    const [comment, ...more] = forge.comments
    expect([more, comment?.body.split('\n')[0]]).toEqual([[], MARKER])
    for (const fact of [opened?.outputs['alias-url'] ?? '?', second, 'Ends 2'])
      expect(comment?.body).toContain(fact)

    const closed = await runWorkflow(workflow, pullRequest(forge, folder, 'closed', second))
    expect(closed).toMatchObject(ok)
    expect([await show('pr-7', 'site'), await show('production', 'site')]).toEqual([404, 'main one'])
    expect(forge.comments.map(({ body }) => body)).toEqual([expect.stringContaining('has ended')])
    expect(await runWorkflow(workflow, pullRequest(forge, folder, 'closed', second))).toMatchObject(ok)
    expect(forge.faults).toEqual([])
    if (flavor === 'github') {
      const states = forge.deployments.map(({ environment, statuses }) => [
        environment,
        statuses.at(-1)?.state,
      ])
      const ended = ['preview/pr-7', 'inactive']
      expect(states).toEqual([['production', 'success'], ended, ended])
    } else expect(forge.statuses.get(second)?.map(({ context }) => context)).toEqual(['svc/pr-7'])
    await forge.stop()
  },
  60_000,
)

test.each([
  ['docs/ci.md', workflow],
  ['the example', example],
])(
  'a pull request of a fork, which has no secrets: green, and nothing is sent (%s)',
  async (_what, yaml) => {
    const forge = startForge('github')
    const folder = await makeRepository(`fork-${yaml.length}`)
    for (const action of ['opened', 'closed']) {
      const job = pullRequest(forge, folder, action, await commit(folder, action))
      const { pull_request } = job.github.event as { pull_request: { head: { repo: object } } }
      pull_request.head.repo = { full_name: 'mallory/site' }
      const run = await runWorkflow(yaml, { ...job, vars: {}, secrets: {} })
      expect(run).toMatchObject({ code: 0, log: expect.stringMatching(/^::notice::.*fork/m), outputs: {} })
    }
    expect(forge.requests).toEqual([])
    await forge.stop()
  },
  60_000,
)

test('the workflow asks for the permissions that comment and deployment need', () => {
  for (const line of ['pull-requests: write', 'deployments: write', 'statuses: write'])
    for (const file of [workflow, example]) expect(file).toContain(line)
})

test('the example: production on a push, a preview from open to close', async () => {
  const forge = startForge('github')
  const folder = await makeRepository('example')
  await runWorkflow(example, pushed(forge, folder, await commit(folder, 'main', 'index.html')))
  const head = await commit(folder, 'pull request', 'index.html')
  expect(await runWorkflow(example, pullRequest(forge, folder, 'opened', head))).toMatchObject(ok)
  expect([await show('pr-7', 'site'), await show('production', 'site')]).toEqual(['pull request', 'main'])
  expect(await runWorkflow(example, pullRequest(forge, folder, 'closed', head))).toMatchObject(ok)
  expect([await show('pr-7', 'site'), forge.comments.length, forge.faults]).toEqual([404, 1, []])
  await forge.stop()
}, 60_000)

test('GitLab: production, and a preview from open to close', async () => {
  const forge = startForge('gitlab')
  forge.strangerSays(MARKER.replace('acme/site', 'acme/lab'))
  const folder = await makeRepository('lab')
  const run = async (given: Record<string, string>, only?: string): Promise<Pipeline> =>
    runGitlab(gitlabCi, {
      workspace: folder,
      ...(only === undefined ? {} : { only }),
      env: {
        PATH: `${join(work, 'bin')}:${process.env['PATH']}`,
        HOME: work,
        SVC_API_URL: server.url,
        SVC_API_KEY: key,
        SVC_PROJECT: 'acme/lab',
        GITLAB_TOKEN: forge.token,
        CI_API_V4_URL: forge.apiUrl,
        CI_PROJECT_ID: '1',
        CI_DEFAULT_BRANCH: 'main',
        ...given,
      },
    })
  const request = (sha: string) => ({
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_COMMIT_SHA: sha,
    CI_COMMIT_REF_SLUG: 'feature-hello',
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_PROJECT_URL: 'https://gitlab.example/acme/lab',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature/hello',
  })
  const main = { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main' }
  const production = await run({ ...main, CI_COMMIT_SHA: await commit(folder, 'main one') })
  expect([production.ran, await show('production', 'lab')]).toEqual([['build', 'production'], 'main one'])

  const opened = await run(request(await commit(folder, 'm one')))
  expect(opened.ran).toEqual(['build', 'preview'])
  expect(opened.log).not.toContain('the forge was not told')
  const [address = ''] = Object.values(opened.environments)
  expect(opened.environments).toEqual({
    'preview/feature-hello': expect.stringMatching(/^http.*pr-7--lab--acme/),
  })
  await run(request(await commit(folder, 'm two')))
  expect([await show('pr-7', 'lab'), await show('production', 'lab')]).toEqual(['m two', 'main one'])
  const own = () => forge.comments.filter(({ author }) => author.id === 99).map(({ body }) => body)
  expect(own()).toEqual([expect.stringContaining(address)])

  for (const _twice of [1, 2]) await run(request('0'.repeat(40)), opened.stops[0])
  expect([await show('pr-7', 'lab'), own()]).toEqual([404, [expect.stringContaining('has ended')]])
  expect([forge.comments.length, forge.faults]).toEqual([2, []])
  await forge.stop()
}, 60_000)

test('svc preview list and end, with and without --json', async () => {
  const folder = await makeRepository('by-hand')
  const env = { SVC_API_URL: server.url, SVC_API_KEY: key }
  const svc = (...args: string[]) => runSvc([...args, '--project', 'acme/hand'], { env })
  writeFileSync(join(folder, 'src/index.html'), 'hand')
  const deploy = async (...flags: string[]) => (await svc('deploy', join(folder, 'src'), ...flags)).code
  expect(await deploy('--preview', 'later', '--expires', '5d')).toBe(0)
  expect(await deploy('--preview', 'sooner', '--expires', '2h')).toBe(0)
  const { stdout, code } = await svc('preview', 'list')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^sooner .* ends .*\nlater .* ends /)])
  const { previews } = JSON.parse((await svc('preview', 'list', '--json')).stdout)
  expect(previews.map((one: { name: string }) => one.name)).toEqual(['sooner', 'later'])
  expect(JSON.parse((await svc('preview', 'end', 'later', '--json')).stdout)).toEqual({ ended: 'later' })
  expect(await svc('preview', 'end', 'later')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no preview'),
  })
  expect(await svc('preview', 'end', 'sooner')).toMatchObject({ code: 0, stdout: 'ended sooner\n' })
  expect(await deploy('--alias', 'stays')).toBe(0)
  expect(await svc('preview', 'end', 'stays')).toMatchObject({ code: 1 })
  expect(await deploy('--preview', 'stays')).toBe(1)
  expect(await deploy('--preview', 'production')).toBe(1)
  for (const words of [
    [],
    ['start'],
    ['list', 'x'],
    ['list', '--comment'],
    ['end', 'a', 'b'],
    ['end', 'a b'],
  ])
    expect((await svc('preview', ...words)).code).toBe(2)
  expect((await svc('preview', 'end', 'x', '--api-url', 'http://127.0.0.1:9')).code).toBe(3)
  for (const words of [['preview'], ['preview', 'list'], ['preview', 'end'], ['deploy']])
    expect((await runSvc(['help', ...words])).stdout).toContain('--preview')
}, 60_000)

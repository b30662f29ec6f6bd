import { afterAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSvc } from '../testing/server-process.ts'

/** The commit and branch of a deploy in the checkouts that CI jobs have. contract 12.12. */

const folders: string[] = []
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-ci-'))
  folders.push(folder)
  writeFileSync(join(folder, 'index.html'), 'home')
})
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true })
})

function git(...args: string[]): string {
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main']
  const { stdout, stderr, exitCode } = Bun.spawnSync(['git', '-C', folder, ...as, ...args])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

/** A pull request of `feature` into `main` as runners check it out: its throw-away merge, detached. */
function checkOutMerge(): { head: string; merge: string; base: string } {
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  git('checkout', '-qb', 'feature')
  git('commit', '-qm', 'the change', '--allow-empty')
  const head = git('rev-parse', 'HEAD')
  git('checkout', '-q', 'main')
  git('commit', '-qm', 'on main', '--allow-empty')
  const base = git('rev-parse', 'HEAD')
  git('checkout', '-q', '--detach')
  git('merge', '-q', '--no-ff', '-m', `Merge ${head} into ${base}`, 'feature')
  return { head, base, merge: git('rev-parse', 'HEAD') }
}

async function deployed(env: Record<string, string> = {}, ...flags: string[]) {
  const { code, stdout, stderr } = await runSvc(
    ['deploy', folder, '--project', 'acme/site', '--dry-run', '--json', ...flags],
    { env: { HOME: '/nonexistent', ...env } },
  )
  const { commitSha, baseSha, branch, description } = stdout === '' ? {} : JSON.parse(stdout)
  return { code, commitSha, baseSha, branch, description, stderr }
}

function eventOf(event: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-event-')), 'event.json')
  folders.push(join(path, '..'))
  writeFileSync(path, JSON.stringify(event))
  return path
}

const PULL_REQUEST = {
  GITHUB_ACTIONS: 'true',
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_REF_NAME: '7/merge',
  GITHUB_HEAD_REF: 'feature',
}

test('a pull request is its head, by the event', async () => {
  const { head, merge } = checkOutMerge()
  const GITHUB_EVENT_PATH = eventOf({ pull_request: { title: 'The change', head: { sha: head } } })
  expect(await deployed({ ...PULL_REQUEST, GITHUB_SHA: merge, GITHUB_EVENT_PATH })).toMatchObject({
    code: 0,
    commitSha: head,
    branch: 'feature',
    description: 'The change',
  })
})

test('a changed working tree of a pull request stands on its head, which --sha HEAD insists on', async () => {
  const { head } = checkOutMerge()
  writeFileSync(join(folder, 'index.html'), 'built')
  const dirty = await deployed(PULL_REQUEST)
  expect(dirty).toMatchObject({ code: 0, baseSha: head, branch: 'feature', description: 'the change' })
  expect(dirty.commitSha).toMatch(/^[0-9a-f]{64}$/)
  expect(dirty.stderr.match(/not committed/g)).toHaveLength(1)
  const insisted = await deployed(PULL_REQUEST, '--sha', 'HEAD')
  expect([insisted.commitSha, insisted.baseSha]).toEqual([head, undefined])
  expect(insisted.stderr).not.toContain('not committed')
})

test('--sha HEAD without a commit is wrong usage', async () => {
  const { code, stderr } = await deployed({}, '--sha', 'HEAD')
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is no HEAD')])
})

test('without the event it is the second parent of the merge, in a shallow clone too', async () => {
  const { head } = checkOutMerge()
  const expected = { code: 0, commitSha: head, branch: 'feature' }
  expect(await deployed(PULL_REQUEST)).toMatchObject({ ...expected, description: 'the change' })
  const whole = folder
  folder = mkdtempSync(join(tmpdir(), 'svc-ci-'))
  folders.push(folder)
  git('clone', '-q', '--depth', '1', `file://${whole}`, '.')
  git('checkout', '-q', '--detach')
  expect(await deployed(PULL_REQUEST)).toMatchObject(expected)
})

test('a job for the base branch publishes what it has checked out', async () => {
  const { base, head } = checkOutMerge()
  git('checkout', '-q', base)
  const GITHUB_EVENT_PATH = eventOf({ pull_request: { head: { sha: head } } })
  const job = { ...PULL_REQUEST, GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_EVENT_PATH }
  expect(await deployed(job)).toMatchObject({ code: 0, commitSha: base })
})

test('a merge that was pushed stays what it is', async () => {
  const { merge } = checkOutMerge()
  const push = { GITHUB_EVENT_NAME: 'push', GITHUB_REF: 'refs/heads/main', GITHUB_HEAD_REF: '' }
  expect(await deployed(push)).toMatchObject({ code: 0, commitSha: merge, branch: 'main' })
})

const detached: [job: string, env: Record<string, string>, branch: string | undefined][] = [
  ['GitHub, a tag', { GITHUB_REF: 'refs/tags/v1', GITHUB_REF_NAME: 'v1' }, undefined],
  ['GitLab', { CI_COMMIT_BRANCH: 'main' }, 'main'],
  [
    'GitLab, a merge request',
    { CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '' },
    'feature',
  ],
  ['Azure', { BUILD_SOURCEBRANCH: 'refs/heads/team/a' }, 'team/a'],
  [
    'Azure, a pull request',
    { SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/b', BUILD_SOURCEBRANCH: 'refs/pull/1/merge' },
    'b',
  ],
  ['Bitbucket', { BITBUCKET_BRANCH: 'main' }, 'main'],
  ['Jenkins', { BRANCH_NAME: 'PR-7', CHANGE_BRANCH: 'feature' }, 'feature'],
  ['none', {}, undefined],
]
test.each(detached)('a checkout by commit takes its branch from the job: %s', async (_job, env, branch) => {
  git('init', '-q')
  git('commit', '-qm', 'first', '--allow-empty')
  git('checkout', '-q', '--detach')
  const { commitSha, branch: got } = await deployed(env)
  expect([commitSha, got]).toEqual([git('rev-parse', 'HEAD'), branch])
})

test('the head of a merge request whose job runs on a merged result', async () => {
  const { head } = checkOutMerge()
  const env = { CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head }
  expect(await deployed(env)).toMatchObject({ commitSha: head, branch: 'feature' })
})

test('a checkout of another user: git’s own reason, and what to do', async () => {
  git('init', '-q')
  git('commit', '-qm', 'first', '--allow-empty')
  // What git's own tests set to be somebody else.
  const other = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }
  const refused = await deployed(other)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('dubious ownership')
  expect(refused.stderr).toContain(`git config --global --add safe.directory ${folder}`)
  expect(refused.stderr).toContain('--sha SHA')
  expect(await deployed(other, '--sha', 'abcdef1')).toMatchObject({ code: 0, commitSha: 'abcdef1' })
})

test.each<[what: string, damage: () => void, reason: string]>([
  ['HEAD is no ref', () => writeFileSync(join(folder, '.git/HEAD'), 'x'), 'not a git repository'],
  ['no objects', () => rmSync(join(folder, '.git/objects'), { recursive: true }), 'not a git repository'],
  [
    'a branch without a commit name',
    () => writeFileSync(join(folder, '.git/refs/heads/main'), 'x'),
    'broken',
  ],
  [
    'no commit',
    () => {
      const sha = git('rev-parse', 'HEAD')
      rmSync(join(folder, '.git/objects', sha.slice(0, 2), sha.slice(2)))
    },
    'bad object HEAD',
  ],
])('a damaged repository is refused with git’s own reason: %s', async (_what, damage, reason) => {
  git('init', '-q', '-b', 'main')
  expect((await deployed()).code).toBe(0)
  git('commit', '-qm', 'first', '--allow-empty')
  damage()
  expect(await deployed()).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) })
  expect((await deployed({}, '--sha', 'abcdef1')).code).toBe(0)
})

test('a worktree whose repository is gone is refused; a folder that git sees no checkout in is not', async () => {
  writeFileSync(join(folder, '.git'), 'gitdir: /nonexistent/repository\n')
  expect(await deployed()).toMatchObject({ code: 2, stderr: expect.stringContaining('not a git repository') })
  rmSync(join(folder, '.git'))
  mkdirSync(join(folder, '.git'))
  expect((await deployed()).code).toBe(0)
})

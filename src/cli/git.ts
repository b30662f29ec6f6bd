import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readCiJob } from './ci-job.ts'
import type { Io } from './command.ts'

/** What git knows about a folder; each part is undefined when git does not know it. */
export type GitFacts = {
  commitSha: string | undefined
  /** First line of the commit's message. */
  subject: string | undefined
  /** Undefined when HEAD is detached. */
  branch: string | undefined
  /** `owner/repo` of the remote `origin`. */
  project: string | undefined
  /** Why git will not read the checkout that is there, in its own words. */
  refusal: string | undefined
}

/**
 * Asks the `git` on the path, and the environment of a CI job, where the checkout may be a merge or a commit without a
 * branch: the commit and branch are those that people know. Never throws: without git, a checkout or a commit, the facts are
 * undefined. contract 12.12.
 */
export async function readGit(folder: string, env: Io['env']): Promise<GitFacts> {
  const job = readCiJob(env)
  const hasCheckout = isInCheckout(folder) || env['GIT_DIR'] !== undefined
  const facts = hasCheckout ? await readCheckout(folder, env) : NO_FACTS
  const head = job.commitSha ?? (job.mayBeMerge ? facts.secondParent : undefined)
  const isHead = head === undefined || head === facts.commitSha
  return {
    commitSha: head ?? facts.commitSha,
    subject: isHead ? facts.subject : (job.title ?? (await subjectOf(head, folder, env))),
    branch:
      head === undefined
        ? (facts.branch ?? (hasCheckout ? job.branch : undefined))
        : (job.branch ?? facts.branch),
    project: facts.project,
    refusal: facts.refusal,
  }
}

/** What the checkout itself says. `secondParent`: of a HEAD that is a detached merge. */
type Checkout = GitFacts & { secondParent: string | undefined }

const NO_FACTS: Checkout = {
  commitSha: undefined,
  subject: undefined,
  branch: undefined,
  project: undefined,
  refusal: undefined,
  secondParent: undefined,
}

async function readCheckout(folder: string, env: Io['env']): Promise<Checkout> {
  const git = (...args: string[]) => runGit(folder, args, env)
  const inEnglish = { ...env, LC_ALL: 'C' }
  const [found, log, branch, remote, raw] = await Promise.all([
    askGit(folder, ['rev-parse', '--git-dir'], inEnglish),
    askGit(folder, ['log', '-1', '--no-show-signature', '--format=%H%n%s'], inEnglish),
    git('symbolic-ref', '--short', '--quiet', 'HEAD'),
    git('remote', 'get-url', 'origin'),
    git('cat-file', 'commit', 'HEAD'),
  ])
  const [commitSha, subject] = log === undefined ? [] : (textOf(log)?.split('\n') ?? [])
  // A shallow clone has the parents' names in the commit, and nowhere else.
  const [, secondParent] = [...(raw?.split('\n\n')[0] ?? '').matchAll(/^parent ([0-9a-f]+)$/gm)].map(
    ([, sha]) => sha,
  )
  return {
    commitSha,
    subject: subject || undefined,
    branch: commitSha === undefined ? undefined : branch,
    project: remote === undefined ? undefined : projectOfRemote(remote),
    refusal: found && log && refusalOf(folder, env, found, log),
    secondParent: branch === undefined ? secondParent : undefined,
  }
}

/** A shallow clone of a merge does not have the commit itself. */
const subjectOf = (sha: string, folder: string, env: Io['env']): Promise<string | undefined> =>
  runGit(folder, ['log', '-1', '--no-show-signature', '--format=%s', sha], env)

/** Undefined where git reads the checkout, has no commit yet, or sees none in what is called `.git`. */
function refusalOf(folder: string, env: Io['env'], found: Asked, log: Asked): string | undefined {
  if (found.exitCode !== 0) return seesNone(folder, env, found) ? undefined : reasonOf(found)
  return log.exitCode === 0 || UNBORN.test(log.errors) ? undefined : reasonOf(log)
}

/** Also says so of a repository that is damaged or that this user may not open, which is no reason to do without it. */
function seesNone(folder: string, env: Io['env'], { errors }: Asked): boolean {
  if (!SEES_NONE.test(errors)) return false
  const sawAll = SAW_ALL_ABOVE.test(errors) && !env['GIT_CEILING_DIRECTORIES']
  return !sawAll || !isRepository(checkoutOf(folder))
}

/** Whether it is more than a folder of that name: of what makes a repository at most one part is missing. */
function isRepository(checkout: string | undefined): boolean {
  if (checkout === undefined) return false
  try {
    const found = readdirSync(join(checkout, '.git'))
    return ['HEAD', 'objects', 'refs'].filter((part) => found.includes(part)).length >= 2
  } catch {
    return true
  }
}

const reasonOf = ({ errors, exitCode }: Asked): string => errors.trim() || `git ended with ${exitCode}`

const SEES_NONE = /not a git repository \(or any/
const SAW_ALL_ABOVE = /or any of the parent directories/
const UNBORN = /does not have any commits yet/

/**
 * Paths of tracked files, anywhere in the checkout, that are not as HEAD has them; empty where git does not say. A changed file
 * of Git LFS and the like is among them only once it is staged: what it is in git, only the program of its filter can tell.
 */
export async function uncommittedChanges(folder: string, env: Io['env']): Promise<string[]> {
  const settings = await runGit(folder, ['config', '--list', '--name-only', '-z'], env)
  if (settings === undefined) return []
  const git = (...args: string[]) => runGit(folder, [...withoutFilters(settings.split('\0')), ...args], env)
  const lists = await Promise.all([
    git('ls-files', '--modified', '--deleted', '--full-name', '-z', '--', ':(top,attr:!filter)'),
    git('diff-index', '--cached', '--name-only', '--ignore-submodules', '-z', 'HEAD'),
  ])
  const paths = lists.flatMap((list) => (list ?? '').split('\0')).filter((path) => path !== '')
  return [...new Set(paths)].sort()
}

/** `ls-files` runs the program of a filter, for any file that may have changed. A git without `--config-env` refuses to begin. */
const withoutFilters = (settings: readonly string[]): string[] =>
  settings
    .filter((name) => /^filter\..*(clean|process|required)$/s.test(name))
    .map((name) => `--config-env=${name}=${NOTHING}`)

/** True when `folder` is inside a checkout, even if git cannot or will not read it. */
export const isInCheckout = (folder: string): boolean => checkoutOf(folder) !== undefined

/** The nearest folder, this one or above, that has something called `.git`. */
function checkoutOf(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    if (existsSync(join(current, '.git'))) return current
    if (dirname(current) === current) return undefined
  }
}

/**
 * `owner/repo` of `https://host/owner/repo.git`, `ssh://…` and `git@host:owner/repo`. Undefined for a local
 * path and for deeper paths (GitLab subgroups), where any choice would be a guess.
 */
export function projectOfRemote(remote: string): string | undefined {
  const path =
    /^(?:https?|ssh|git):\/\/[^/]+\/(.+)$/.exec(remote)?.[1] ??
    /^[^/\\:]{2,}:(?!\/\/)\/?(.+)$/.exec(remote)?.[1]
  const [owner, repo, ...deeper] = (path ?? '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
  return owner && repo && deeper.length === 0 ? `${owner}/${repo}` : undefined
}

/**
 * An unpacked or copied folder brings its author's git configuration, which may name programs to run. None of these calls
 * needs one: nothing is fetched (git would do so for an object missing from a partial clone), signed or watched.
 */
const NOTHING = 'SVC_NOTHING'
const HARMLESS_ENV = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  [NOTHING]: '',
}
const HARMLESS_CONFIG = ['core.fsmonitor=false', 'log.showSignature=false', 'log.mailmap=false'].flatMap(
  (one) => ['-c', one],
)
/** A file of a checkout may be a pipe that nobody writes to. */
const LONGEST_MS = 30_000

async function runGit(folder: string, args: string[], env: Io['env']): Promise<string | undefined> {
  const asked = await askGit(folder, args, env)
  return asked && textOf(asked)
}

const textOf = ({ exitCode, text }: Asked): string | undefined =>
  exitCode === 0 && text.trim() !== '' ? text.trim() : undefined

type Asked = { exitCode: number; text: string; errors: string }

/** Undefined where there is no git on this machine. */
async function askGit(folder: string, args: string[], env: Io['env']): Promise<Asked | undefined> {
  try {
    const child = Bun.spawn(['git', '-C', folder, ...HARMLESS_CONFIG, ...args], {
      env: { ...env, ...HARMLESS_ENV },
      stdin: 'ignore',
      stderr: 'pipe',
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    })
    const [text, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { exitCode, text, errors }
  } catch {
    return undefined
  }
}

import { readFileSync } from 'node:fs'
import { isRecord } from '../domain/is-record.ts'
import { isCommitSha } from '../domain/names.ts'
import type { Io } from './command.ts'

/** What a CI job was started for; each part is undefined when its environment does not say. */
export type CiJob = {
  /** What is checked out may be a merge that nobody knows, whose second parent is the head of the pull request. */
  mayBeMerge: boolean
  /** The head of the pull request. */
  commitSha: string | undefined
  /** Title of the pull request. */
  title: string | undefined
  /** The branch of the pull request, else the one that was pushed. A checkout by commit does not name it. */
  branch: string | undefined
}

/**
 * Reads the variables of GitHub, Gitea and Forgejo, GitLab, Azure, Bitbucket, Buildkite, CircleCI, Drone and Woodpecker,
 * Jenkins and Travis. contract 12.12.
 */
export function readCiJob(env: Io['env']): CiJob {
  const pullRequest = pullRequestOf(env)
  return {
    mayBeMerge:
      !isOfBase(env) && Boolean(env['GITHUB_HEAD_REF'] || env['GITHUB_REF']?.startsWith('refs/pull/')),
    commitSha: pullRequest?.sha ?? shaIn(env),
    title: pullRequest?.title,
    branch: withoutRefs(firstOf(env, HEAD_BRANCHES) ?? pushedBranch(env)),
  }
}

/** A job of `pull_request_target` has the code of the base branch, so that its checkout says what it is. */
const isOfBase = (env: Io['env']): boolean => env['GITHUB_EVENT_NAME'] === 'pull_request_target'

/** Variables with the branch of a pull request. */
const HEAD_BRANCHES = [
  'GITHUB_HEAD_REF',
  'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME',
  'SYSTEM_PULLREQUEST_SOURCEBRANCH',
  'DRONE_SOURCE_BRANCH',
  'CI_COMMIT_SOURCE_BRANCH',
  'CHANGE_BRANCH',
  'TRAVIS_PULL_REQUEST_BRANCH',
]
const HEAD_COMMITS = [
  'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA',
  'SYSTEM_PULLREQUEST_SOURCECOMMITID',
  'TRAVIS_PULL_REQUEST_SHA',
]
const PUSHED_BRANCHES = [
  'CI_COMMIT_BRANCH',
  'BUILD_SOURCEBRANCH',
  'BITBUCKET_BRANCH',
  'BUILDKITE_BRANCH',
  'CIRCLE_BRANCH',
  'DRONE_BRANCH',
  'BRANCH_NAME',
  'TRAVIS_BRANCH',
]

function firstOf(env: Io['env'], names: readonly string[]): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
}

function shaIn(env: Io['env']): string | undefined {
  const sha = firstOf(env, HEAD_COMMITS)?.toLowerCase()
  return sha !== undefined && isCommitSha(sha) ? sha : undefined
}

/** `GITHUB_REF_NAME` is also the name of a tag, or `12/merge`. */
function pushedBranch(env: Io['env']): string | undefined {
  const ref = env['GITHUB_REF']
  return ref?.startsWith('refs/heads/') === true ? ref : firstOf(env, PUSHED_BRANCHES)
}

/** A tag or the ref of a merge is no branch. */
function withoutRefs(ref: string | undefined): string | undefined {
  const branch = ref?.replace(/^refs\/heads\//, '')
  return branch?.startsWith('refs/') === true ? undefined : branch
}

/** The pull request of the event that GitHub started the job for. */
function pullRequestOf(env: Io['env']): { sha: string; title: string | undefined } | undefined {
  const path = env['GITHUB_EVENT_PATH']
  if (!path || isOfBase(env)) return undefined
  const event = readJson(path)
  const pullRequest = isRecord(event) ? event['pull_request'] : undefined
  if (!isRecord(pullRequest) || !isRecord(pullRequest['head'])) return undefined
  const sha = String(pullRequest['head']['sha']).toLowerCase()
  const { title } = pullRequest
  return isCommitSha(sha) ? { sha, title: typeof title === 'string' ? title : undefined } : undefined
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

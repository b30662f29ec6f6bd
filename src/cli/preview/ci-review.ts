import { readGithubJob, webAddress } from '../../../scripts/actions/upload/lib/forge/job.mjs'
import { autoPreviewName, isPreviewName } from '../../../scripts/actions/upload/lib/preview-name.mjs'
import { readCiJob } from '../ci-job.ts'
import { type Io, UsageError } from '../command.ts'
import { readGit } from '../git.ts'

/** The pull request, or merge request of GitLab, that a CI job runs for. contract 16 §2. */
type Review = { number: number; url: string | undefined }

export function readReview(env: Io['env']): Review | undefined {
  const number = Number(env['CI_MERGE_REQUEST_IID'])
  if (!Number.isSafeInteger(number) || number < 1) return readGithubJob(env).pullRequest
  return { number, url: webAddress(`${env['CI_MERGE_REQUEST_PROJECT_URL']}/-/merge_requests/${number}`) }
}

/** The job runs for a pull request out of another repository. */
export function isOfFork(env: Io['env']): boolean {
  const [source, target] = [env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'], env['CI_MERGE_REQUEST_PROJECT_ID']]
  return source && target ? source !== target : readGithubJob(env).isFork
}

/** The branch that `auto` names a preview by, where there is no pull request. A job for the end of one has another checked out. */
export async function branchHere({ cwd, env }: Io): Promise<string | undefined> {
  if (env['GITHUB_EVENT_NAME'] === 'delete') return readGithubJob(env).headBranch
  return (await readGit(cwd, env)).branch ?? readCiJob(env).branch
}

/** The name as given, or the one that `auto` stands for. Throws a `UsageError` for what is none. */
export function previewNameOf(given: string, branch: string | undefined, env: Io['env']): string {
  const name = given === 'auto' ? autoPreviewName({ pullRequest: readReview(env)?.number, branch }) : given
  if (name === undefined)
    throw new UsageError(
      'there is neither a pull request nor a branch to name the preview by; give it a name of its own',
    )
  if (!isPreviewName(name))
    throw new UsageError(
      `"${name}" is no name of a preview; it has 1 to 64 letters, digits, _ and -, and is no SHA`,
    )
  return name
}

/** What `svc deploy` and `svc preview` use of it; the implementation beside it is checked against this. */
export type Env = Readonly<Record<string, string | undefined>>

/** Parts are undefined where the runner does not say them. */
export type GithubJob = {
  apiUrl: string | undefined
  /** `owner/name` on the forge. */
  repository: string | undefined
  headSha: string | undefined
  headBranch: string | undefined
  /** The page of this run. */
  logUrl: string | undefined
  /** Title of the pull request, else the first line of the message of the commit that was pushed. */
  subject: string | undefined
  isOfPullRequest: boolean
  /** The pull request comes from another repository. */
  isFork: boolean
  pullRequest: { number: number; url: string | undefined } | undefined
}

export function readGithubJob(env: Env): GithubJob

export function webAddress(text: unknown): string | undefined

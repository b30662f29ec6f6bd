import { readGithubJob } from '../../../scripts/actions/upload/lib/forge/job.mjs'
import {
  type Outcome,
  type Send,
  type Site,
  tellGithub,
  tellGitlab,
} from '../../../scripts/actions/upload/lib/forge/tell.mjs'
import { textOfAnswer } from '../answer-text.ts'
import { fetched } from '../api-client.ts'
import type { Io } from '../command.ts'
import { casOfMarkedFile } from '../extra-cas.ts'
import { proxyFor } from '../proxy.ts'

/**
 * Tells the forge of this CI job, by its variables, what became of a preview: GitHub, Forgejo and Gitea, or GitLab. Never
 * throws; what was not told is one line. contract 16 §2.
 */
export async function tellForge(
  env: Io['env'],
  preview: { project: string; preview: string },
  outcome: Outcome,
): Promise<string | undefined> {
  const site: Site = { ...preview, alias: undefined }
  const trouble = env['CI_API_V4_URL']
    ? await tellMergeRequest(env, env['CI_API_V4_URL'], site, outcome)
    : await tellPullRequest(env, site, outcome)
  return trouble === undefined ? undefined : `the forge was not told: ${trouble}`
}

/** A job token of GitLab may not write notes. */
async function tellMergeRequest(
  env: Io['env'],
  apiUrl: string,
  site: Site,
  outcome: Outcome,
): Promise<string | undefined> {
  const { CI_PROJECT_ID: projectId, CI_MERGE_REQUEST_IID: iid, GITLAB_TOKEN: token } = env
  if (!projectId || !iid) return 'this job runs for no merge request'
  if (!token) return 'GITLAB_TOKEN is not set, and the token of a job may not write notes'
  return tellGitlab({ apiUrl, projectId, iid, token, send: sender(env) }, site, outcome)
}

async function tellPullRequest(env: Io['env'], site: Site, outcome: Outcome): Promise<string | undefined> {
  const job = readGithubJob(env)
  if (job.apiUrl === undefined) return 'this is no job of GitHub, Forgejo, Gitea or GitLab'
  const token = env['GITHUB_TOKEN']
  if (!token) return 'GITHUB_TOKEN is not set'
  const wants = { comment: true, deployment: true }
  return tellGithub({ job, token, send: sender(env), wants }, site, outcome)
}

const sender =
  (env: Io['env']): Send =>
  (url, { method, headers, body, timeoutMs }) => {
    const ca = casOfMarkedFile(env['NODE_EXTRA_CA_CERTS'])
    const init: RequestInit = {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
      ...(ca ? { tls: { ca: [...ca] } } : {}),
    }
    return fetched(url, proxyFor(url, env), init, async (response) => ({
      status: response.status,
      headers: { link: response.headers.get('link') },
      text: await textOfAnswer(response),
    }))
  }

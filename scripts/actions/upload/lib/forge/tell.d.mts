import type { GithubJob } from './job.d.mts'

/** What `svc deploy` and `svc preview` use of it; the implementation beside it is checked against this. */
export type Send = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string; timeoutMs: number },
) => Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>

/** `project`: owner/repo of svc. Without a preview, the alias. */
export type Site = { project: string; preview: string | undefined; alias: string | undefined }

export type Published = { url: string | undefined; commitSha: string; expiresAt: string | undefined }
export type Outcome = Published | 'failed' | 'ended'

export function tellGithub(
  forge: {
    job: GithubJob
    token: string
    send: Send
    wants: { comment: boolean; deployment: boolean }
  },
  site: Site,
  outcome: Outcome,
): Promise<string | undefined>

export function tellGitlab(
  forge: { apiUrl: string; projectId: string; iid: string; token: string; send: Send },
  site: Site,
  outcome: Outcome,
): Promise<string | undefined>

export function environmentOf(site: Pick<Site, 'preview' | 'alias'>): string | undefined

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { createAccount } from '../modules/users/service.ts'
import { sandboxFor } from '../pipelines/sandbox/sandbox-for.ts'
import { waitForWork } from '../pipelines/track-work.ts'
import type { Mail } from '../platform/mail.ts'
import { newToken } from '../platform/tokens.ts'
import { VERSION } from '../release-info.ts'
import { type App, createApp } from '../server/app.ts'
import { openContext } from '../server/open-context.ts'

/** A complete service in memory, thrown away afterwards: a rule behaves here as on a server. */
export type Lab = {
  ctx: Context
  app: App
  /** Calls with the operator's global key. Throws when the service refuses. */
  api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  fetch(host: string, method: string, path: string, init?: LabRequest): Promise<Response>
  /** Gets each mail; none leaves the machine. */
  onMail(mail: Mail): void
  close(): Promise<void>
}

export type LabRequest = { headers?: Record<string, string>; body?: BodyInit | undefined }

export const SITE_OWNER = 'local'

/** `write` gets the log lines: only errors, unless `env` says otherwise. */
export async function openLab(
  env: Record<string, string> = {},
  write: (line: string) => void = () => undefined,
): Promise<Lab> {
  const root = mkdtempSync(join(tmpdir(), 'svc-lab-'))
  const forget = removeWhenSignalled(root)
  const config = loadConfig({
    env: { DATA_DIR: root, LOG_LEVEL: 'error', RATE_LIMIT_API: '0', RATE_LIMIT_UPLOAD: '0', ...env },
  })
  const { ctx, close } = await openContext(config, VERSION, write, { isInMemory: true })
  const app = createApp(ctx)
  ctx.mail = {
    isConfigured: true,
    send: async (mail) => lab.onMail(mail),
    close: () => undefined,
  }
  await createAccount(
    ctx,
    { email: 'owner@lab.invalid', password: newToken(), role: 'admin' },
    { kind: 'operator' },
  )
  const key = createOperatorKey(ctx, { name: 'lab', repository: null })
  const fetchAt: Lab['fetch'] = async (host, method, path, { headers = {}, body } = {}) => {
    const request = new Request(`http://${host}${path}`, {
      method,
      headers: { host, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return app.fetch(request, { address: '127.0.0.1' })
  }
  const lab: Lab = {
    ctx,
    app,
    fetch: fetchAt,
    onMail: () => undefined,
    async api(method, path, body) {
      const isForm = body instanceof FormData
      const answer = await fetchAt(config.adminHost, method, path, {
        headers: {
          'x-api-key': key,
          ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: isForm ? body : body === undefined ? undefined : JSON.stringify(body),
      })
      const json = (await answer.json()) as Record<string, unknown>
      if (answer.status >= 400)
        throw new AppError('invalid', String(json['message']), { cause: json['details'] })
      return json
    },
    async close() {
      await waitForWork(ctx, 5000)
      sandboxFor(ctx).close()
      close()
      rmSync(root, { recursive: true, force: true })
      forget()
    },
  }
  return lab
}

/** Ctrl-C cleans up too. A command that handles the signal itself, such as `svc dev`, must close the lab. */
function removeWhenSignalled(root: string): () => void {
  const ends = Object.entries({ SIGINT: 130, SIGTERM: 143 }).map(([signal, exitCode]) => {
    const end = () => {
      if (process.listenerCount(signal) > 1) return
      rmSync(root, { recursive: true, force: true })
      process.exit(exitCode)
    }
    process.on(signal, end)
    return () => process.off(signal, end)
  })
  return () => {
    for (const off of ends) off()
  }
}

/** Creates a project with one page and the alias production; returns its id and the host of its site. */
export async function addSite(lab: Lab, repo: string): Promise<{ projectId: string; host: string }> {
  const form = new FormData()
  const fields = { owner: SITE_OWNER, repo, commitSha: 'a'.repeat(40), alias: 'production', isPublic: 'true' }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new File(['<!doctype html><title>test</title>'], 'index.html', { type: 'text/html' }))
  const { deployment } = (await lab.api('POST', '/api/deployments', form)) as {
    deployment: { projectId: string }
  }
  return {
    projectId: deployment.projectId,
    host: `production--${repo}--${SITE_OWNER}.${lab.ctx.config.baseDomain}`,
  }
}

import { mkdirSync } from 'node:fs'
import { type Lab, type Process, run, SERVER_CORE, svcExecutable } from './lab.ts'
import { freePort, type Server, untilReady } from './servers.ts'

/** A running appliance with a global key. The measured site is acme/bench, its alias production. */
export type Svc = Server & { dataDir: string; key: string; url: string }

export const PROJECT = 'acme/bench'
const SITE_HOST = 'production--bench--acme.localhost'

/** `command` starts another build of svc than the measured one. */
type SvcOptions = {
  dataDir?: string
  cores?: string
  env?: Readonly<Record<string, string>>
  command?: readonly string[]
}

/** Starts an appliance on an empty or existing data directory: without limits, and with no line in its log for a request. */
export async function startSvc(lab: Lab, options: SvcOptions = {}): Promise<Svc> {
  const dataDir = options.dataDir ?? lab.folder('data')
  mkdirSync(dataDir, { recursive: true })
  const port = await freePort()
  const child = spawnSvc(lab, dataDir, port, options)
  const server = await untilReady({ name: 'svc', port, host: SITE_HOST, process: child })
  return {
    ...server,
    dataDir,
    url: `http://127.0.0.1:${port}`,
    key: await createKey(dataDir, options),
  }
}

export function spawnSvc(
  lab: Lab,
  dataDir: string,
  port: number,
  { cores = SERVER_CORE, env = {}, command = [svcExecutable] }: SvcOptions = {},
): Process {
  return lab.spawn([...command, 'serve'], { cores, env: { ...settings(dataDir, port), ...env } })
}

/** Publishes a folder to acme/bench as one tar.gz and makes the site public; the alias is `production`. */
export async function publish(svc: Svc, folder: string, commitSha: string): Promise<void> {
  await publishArchive(svc, await packed(folder), commitSha)
}

/** A folder as one tar.gz. */
export const packed = (folder: string): Promise<Blob> => Bun.$`tar cz -C ${folder} .`.blob()

/** What is used of the answer to an upload. */
export type Published = { deployment: { id: string; projectId: string }; release: { status: string } }

export async function publishArchive(
  svc: Svc,
  archive: Blob,
  commitSha: string,
  project = PROJECT,
): Promise<Published> {
  const [owner = '', repo = ''] = project.split('/')
  const query = new URLSearchParams({ owner, repo, commitSha, alias: 'production', isPublic: 'true' })
  return (await api(svc, 'POST', `/api/deployments?${query}`, archive, 'application/gzip')) as Published
}

/** A rule of acme/bench, on the project. */
export async function addRule(svc: Svc, pathPattern: string, targetUrl: string): Promise<void> {
  const project = (await api(svc, 'GET', `/api/projects/${PROJECT}`)) as { id: string }
  const proxyType = targetUrl.startsWith('/') ? 'internal_rewrite' : 'external_proxy'
  const rule = JSON.stringify({ pathPattern, targetUrl, proxyType })
  await api(svc, 'POST', `/api/proxy-rules/project/${project.id}`, rule)
}

/** `svc deploy` of a folder, as a person calls it. Without `sha` the commit is the hash of the manifest. */
export async function deploy(svc: Svc, folder: string, options: { url?: string; project?: string } = {}) {
  const { url = svc.url, project = PROJECT } = options
  const argv = [svcExecutable, 'deploy', folder, '--project', project, '--alias', 'production']
  await run(argv, { env: { SVC_API_URL: url, SVC_API_KEY: svc.key }, cwd: svc.dataDir })
}

/** One call of the API with the global key; an answer over 299 is an error with its text. */
export async function api(
  svc: Pick<Svc, 'url' | 'key'>,
  method: string,
  path: string,
  body?: Blob | string,
  type = 'application/json',
): Promise<unknown> {
  const response = await fetch(`${svc.url}${path}`, {
    method,
    headers: { 'x-api-key': svc.key, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function createKey(
  dataDir: string,
  { command = [svcExecutable], env = {} }: SvcOptions,
): Promise<string> {
  const output = await run([...command, 'key', 'create', 'bench'], { env: { ...env, DATA_DIR: dataDir } })
  return output.trim()
}

function settings(dataDir: string, port: number): Record<string, string> {
  return {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: 'bench bench bench',
    RATE_LIMIT_API: '0',
    RATE_LIMIT_UPLOAD: '0',
    LOG_LEVEL: 'warn',
  }
}

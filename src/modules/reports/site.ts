import type { Context } from '../../context.ts'
import { encodePath } from '../../domain/asset-path.ts'
import { cleanAddress } from '../../domain/clean-addresses.ts'
import type { HtmlHandling } from '../../domain/html-handling.ts'
import { isRoutingFile } from '../../domain/routing/compile.ts'
import { aliasView, findAliasByName } from '../aliases/service.ts'
import { type DeploymentRow, deploymentView, findDeployment } from '../deployments/service.ts'
import { hostsShowing } from '../domains/service.ts'
import { findProjectById } from '../projects/service.ts'
import { type AskableSite, siteEngine } from '../releases/site-port.ts'
import type { ReportRow } from './queries.ts'

/** A deployment as the alias of its upload shows it, or alone. */
export type ReportedSite = {
  deploymentId: string
  /** `''`, or such as `/dist`. */
  folder: string
  /** Of the host, in lower case without port. */
  hostname: string
  htmlHandling: HtmlHandling | null
  /** The raw address of a file, given its path as in the list of files; null for one that the host does not show. */
  addressOf: (path: string) => string | null
  /** Whether a host, with its port, is one of the project's own. */
  isOwnHost: (host: string) => boolean
  /** Whether a GET of a path with its query would be answered by anything but 404. Remembered. */
  answers: (address: string) => Promise<boolean>
  /** Where a GET of a raw path is redirected to on the same host; null if it is not. */
  redirectFrom: (path: string) => Promise<string | null>
}

/** Undefined when the deployment is gone. */
export function reportedSite(ctx: Context, row: ReportRow): ReportedSite | undefined {
  const deployment = findDeployment(ctx.db.orm, row.deploymentId)
  const shown = deployment === undefined ? undefined : shownOf(ctx, deployment, row.alias)
  const site = shown === undefined ? undefined : siteEngine(ctx).shownAt(shown.url.hostname)
  if (deployment === undefined || shown === undefined || site === undefined) return undefined
  const { url, folder, htmlHandling } = shown
  return {
    deploymentId: deployment.id,
    folder,
    hostname: url.hostname,
    htmlHandling,
    addressOf: (path) => addressOf(path, folder, htmlHandling),
    isOwnHost: (host) => shown.hosts.has(host),
    answers: remembered(async (address) => (await statusOf(site, address)) !== 404),
    redirectFrom: (path) => redirectFrom(site, url, path),
  }
}

type Shown = { url: URL; folder: string; htmlHandling: HtmlHandling | null; hosts: ReadonlySet<string> }

function shownOf(ctx: Context, deployment: DeploymentRow, aliasName: string): Shown | undefined {
  const project = findProjectById(ctx, deployment.projectId)
  if (project === undefined) return undefined
  const { urls } = deploymentView(ctx, deployment)
  const alias = findAliasByName(ctx, project.id, aliasName)
  const isShown = alias?.deploymentId === deployment.id
  const url = new URL(isShown ? aliasView(ctx, alias).url : urls.version)
  const domains = isShown ? hostsShowing(ctx.db, project.id, alias.name).map((host) => ctx.siteUrl(host)) : []
  const own = [url.href, urls.sha, urls.version, ...(urls.alias === null ? [] : [urls.alias]), ...domains]
  return {
    url,
    folder: isShown ? alias.basePath : deployment.basePath,
    htmlHandling: (isShown ? alias.htmlHandling : null) ?? project.htmlHandling,
    hosts: new Set(own.map((address) => new URL(address).host)),
  }
}

function addressOf(path: string, folder: string, handling: HtmlHandling | null): string | null {
  const whole = `/${path}`
  if (!whole.startsWith(`${folder}/`) || isRoutingFile(path)) return null
  const served = whole.slice(folder.length)
  return encodePath(handling === null || !served.endsWith('.html') ? served : cleanAddress(served, handling))
}

/** Null where a backend, a pipeline or the service itself answers, which is not asked. */
async function statusOf(site: AskableSite, address: string): Promise<number | null> {
  const said = await site(address)
  if (said.kind === 'not_run') return null
  await said.response.body?.cancel()
  return said.response.status
}

async function redirectFrom(site: AskableSite, { origin }: URL, path: string): Promise<string | null> {
  const said = await site(path)
  if (said.kind === 'not_run') return null
  await said.response.body?.cancel()
  const { status, headers } = said.response
  const to = status >= 300 && status < 400 ? headers.get('location') : null
  const url = to === null ? null : URL.parse(to, `${origin}${path}`)
  return url === null || url.origin !== origin ? null : `${url.pathname}${url.search}`
}

/** In UTF-16 units, of all addresses together. */
const MAX_REMEMBERED = 8 * 1024 * 1024

function remembered(ask: (address: string) => Promise<boolean>): (address: string) => Promise<boolean> {
  const known = new Map<string, boolean>()
  let left = MAX_REMEMBERED
  return async (address) => {
    const before = known.get(address)
    if (before !== undefined) return before
    const answer = await ask(address)
    left -= address.length
    if (left > 0) known.set(address, answer)
    return answer
  }
}

import { type AnyElysia, Elysia } from 'elysia'
import { assets } from '../../ui/assets/manifest.ts'
import { CLEAR_COOKIES } from '../../ui/auth/cookie-routes.ts'
import { SITE_SIGN_OUT } from '../../ui/auth/routes.ts'
import { authDialogAnswer } from '../../ui/auth-dialog/serve.ts'
import { page } from '../../ui/components/html.ts'
import { failurePage, visitedAnswer } from '../../ui/frame/page-request.ts'
import { createPages } from '../../ui/pages-app.ts'
import { forbiddenPage } from '../../ui/site/forbidden.ts'
import { badHostPage, noSitePage, notFoundPage, unprovenDomainPage } from '../../ui/site/not-found.ts'
import type { Context } from '../context.ts'
import { AUTH_DIALOG_PATH } from '../domain/auth-dialog-path.ts'
import { AppError } from '../domain/errors.ts'
import type { Arrival } from '../http/arrival.ts'
import { keepBodySchemas } from '../http/body-shapes.ts'
import { apiDocs, withExplorer } from '../http/docs.ts'
import { elysiaOptions } from '../http/elysia-options.ts'
import { errorResponse, toAppError } from '../http/error-response.ts'
import { errorResponses } from '../http/errors.ts'
import { factsOf, hasFacts } from '../http/request-facts.ts'
import { signInAddress } from '../http/safe-redirect.ts'
import { accountRoutes } from '../modules/account/routes.ts'
import { withoutDuePreviews } from '../modules/aliases/previews/due.ts'
import { aliasRoutes, previewRoutes } from '../modules/aliases/routes.ts'
import { analyticsRoutes } from '../modules/analytics/routes.ts'
import { apiKeyRoutes } from '../modules/api-keys/routes.ts'
import { assetRoutes } from '../modules/assets/routes.ts'
import { assetUploadRoutes } from '../modules/assets/upload-routes.ts'
import { attentionRoutes } from '../modules/attention/routes.ts'
import { deviceRoutes } from '../modules/auth/device/routes.ts'
import { callbackRoute } from '../modules/auth/handover/routes.ts'
import { authRoutes } from '../modules/auth/routes.ts'
import { backupRoutes } from '../modules/backups/routes.ts'
import { cdnRoutes, purgeRoutes } from '../modules/cdn/routes.ts'
import { certificateRoutes } from '../modules/certificates/routes.ts'
import { compareRoutes } from '../modules/compare/routes.ts'
import { deploymentRoutes, numberedDeploymentRoutes } from '../modules/deployments/routes.ts'
import { deploymentUploadRoutes } from '../modules/deployments/upload/routes.ts'
import { domainRoutes } from '../modules/domains/routes.ts'
import { explainRoutes } from '../modules/explain/routes.ts'
import type { Explainer } from '../modules/explain/service.ts'
import { fileRoutes } from '../modules/files/routes.ts'
import { groupMemberRoutes, groupRoutes } from '../modules/groups/routes.ts'
import { healthRoutes } from '../modules/health/routes.ts'
import { invitationRoutes, projectInvitationRoutes } from '../modules/invitations/routes.ts'
import { auditRoutes, logRoutes, projectAuditRoutes, projectLogRoutes } from '../modules/logs/routes.ts'
import { machineRoutes } from '../modules/machines/routes.ts'
import { memberRoutes, permissionRoutes } from '../modules/members/routes.ts'
import { METRICS_PATH, metricsAnswer } from '../modules/metrics/service.ts'
import { mailTestRoutes, noticeRoutes } from '../modules/notices/routes.ts'
import { projectRoutes } from '../modules/projects/routes.ts'
import { proxyRuleRoutes } from '../modules/proxy-rules/routes.ts'
import { quotaRoutes } from '../modules/quotas/routes.ts'
import { recordRoutes } from '../modules/records/routes.ts'
import { releaseCheckRoutes } from '../modules/releases/routes.ts'
import { siteEngine } from '../modules/releases/site-port.ts'
import { reportRoutes } from '../modules/reports/routes.ts'
import { retentionRoutes } from '../modules/retention/routes.ts'
import { ruleSetHistoryRoutes, ruleSetRoutes } from '../modules/rule-sets/routes.ts'
import { ruleTextRoutes } from '../modules/rule-texts/routes.ts'
import { runRoutes } from '../modules/runs/routes.ts'
import { scheduleDuty } from '../modules/schedules/duty.ts'
import { scheduleRoutes } from '../modules/schedules/routes.ts'
import { schemaRoutes } from '../modules/schemas/routes.ts'
import { secretRoutes } from '../modules/secrets/routes.ts'
import { settingsRoutes } from '../modules/settings/routes.ts'
import { setupRoutes } from '../modules/setup/routes.ts'
import { storageRoutes } from '../modules/storage/routes.ts'
import { trafficRoutes } from '../modules/traffic/routes.ts'
import { userRoutes } from '../modules/users/routes.ts'
import { projectWebhookRoutes, webhookRoutes } from '../modules/webhooks/routes.ts'
import { ruleTexts } from '../rules/rule-texts.ts'
import { askableAlias, askableHost } from '../site/askable-site.ts'
import { explain, projectOfUrl } from '../site/explain.ts'
import { serveContent } from '../site/serve-content.ts'
import { serveDownload } from '../site/serve-stored-file.ts'
import { type ApiDoor, createApiDoor } from './api-door.ts'
import { performer } from './perform-schedules.ts'
import type { Endpoints } from './route-request.ts'

const loadPipelineSchemas = async () =>
  (await import('../pipelines/language/documented.ts')).pipelineSchemas()

/** The API and the pages for the front door. Loaded when a request needs more than a file. */
export function createEndpoints(ctx: Context): Endpoints {
  const routes = createApi(ctx, (path) => api.isApiRoute(path))
  const api: ApiDoor = createApiDoor(ctx, withExplorer(routes, loadPipelineSchemas))
  const site = { pages: pagesOf(ctx), isApiRoute: api.isApiRoute }
  siteEngine(ctx).shownBy = (alias) => askableAlias(ctx, site, alias)
  scheduleDuty(ctx).perform = performer(ctx)
  siteEngine(ctx).shownAt = (host) => askableHost(ctx, site, host)
  const adminPages = createPages(ctx, explainerOf(ctx, api.isApiRoute))
  return {
    isApiRoute: api.isApiRoute,
    isForEveryHost: (path) => path === CLEAR_COOKIES,
    asset: assetAnswer,
    async admin({ request, path }) {
      const asset = assetAnswer(path)
      if (asset !== undefined) return asset
      if (path === AUTH_DIALOG_PATH) return authDialogAnswer(ctx, request)
      if (path === METRICS_PATH) return metricsAnswer(ctx, request, factsOf(request))
      await withoutDuePreviews(ctx)
      if (isVisited(path)) return visitedAnswer(request, await api.handle(request, path))
      if (isApiPath(path)) return api.handle(request, path)
      if (path.startsWith('/_svc/') && !adminPages.isSiteRoute(path)) return nothingHere(ctx, request)
      return adminPages.handle(request, path)
    },
    failure(request, path, error) {
      if (!isApiPath(path)) return failurePage(ctx, request, error)
      if (hasFacts(request) && (api.isApiRoute(path) || factsOf(request).site === null))
        return api.refuse(request, path, error)
      return errorResponse(toAppError(ctx, error, request))
    },
    pages: pagesOf(ctx),
  }
}

/** The service's own pages on a site host. */
const pagesOf = (ctx: Context): Endpoints['pages'] => ({
  notFound: (path) => page(notFoundPage({ isStart: path === '/' }), 404),
  badHost: () => page(badHostPage(), 400),
  noSite: (host, arrival) => noSiteAnswer(ctx, host, arrival),
  hidden: (host, arrival) => noSiteAnswer(ctx, host, arrival),
  unproven: (host) => page(unprovenDomainPage(host), 421),
  forbidden: ({ email, siteHost, adminUrl }) =>
    page(
      forbiddenPage({
        email,
        siteHost,
        accountUrl: `${adminUrl}/account`,
        signOutUrl: SITE_SIGN_OUT,
      }),
      403,
    ),
})

/**
 * The sign-in leads back to the whole address, path and query, whether there is a site or not. `host` null: the request
 * named no valid host, so the page has no link back to it.
 */
function noSiteAnswer(ctx: Context, host: string | null, { target }: Arrival): Response {
  const address = host === null ? null : `${ctx.siteUrl(host)}${target}`
  const signInUrl = address === null ? `${ctx.adminUrl()}/signin` : signInAddress(ctx, address)
  return page(noSitePage({ host: host ?? 'this address', signInUrl }), 404)
}

/** Explains a request with the site engine itself, for the API and the page that offer this. */
export const explainerOf = (ctx: Context, isApiRoute: (path: string) => boolean): Explainer => ({
  projectOf: (url) => projectOfUrl(ctx, url),
  explain: (input) => explain(ctx, { pages: pagesOf(ctx), isApiRoute }, input),
})

/** Every API route; the access test walks `routes`. `isApiRoute` is the door's lookup built from them. */
export function createApi(ctx: Context, isApiRoute: (path: string) => boolean = () => false): AnyElysia {
  const api = allRoutes(ctx, isApiRoute)
  keepBodySchemas(ctx, api.routes)
  return api
}

const allRoutes = (ctx: Context, isApiRoute: (path: string) => boolean): AnyElysia =>
  // Deliberately untyped: the combined type of all routes is too large for the compiler, and unused.
  (new Elysia(elysiaOptions(ctx)) as AnyElysia)
    .use(errorResponses(ctx))
    .use(apiDocs(ctx.version))
    .use(setupRoutes(ctx))
    .use(healthRoutes(ctx))
    .use(authRoutes(ctx, '/api/auth'))
    .use(authRoutes(ctx, '/_svc/auth'))
    .use(deviceRoutes(ctx))
    .use(callbackRoute(ctx))
    .use(accountRoutes(ctx))
    .use(noticeRoutes(ctx))
    .use(projectRoutes(ctx))
    .use(proxyRuleRoutes(ctx))
    .use(ruleTextRoutes(ctx, ruleTexts))
    .use(ruleSetRoutes(ctx))
    .use(ruleSetHistoryRoutes(ctx))
    .use(domainRoutes(ctx))
    .use(trafficRoutes(ctx))
    .use(explainRoutes(ctx, explainerOf(ctx, isApiRoute)))
    .use(permissionRoutes(ctx))
    .use(memberRoutes(ctx))
    .use(projectInvitationRoutes(ctx))
    .use(invitationRoutes(ctx))
    .use(secretRoutes(ctx))
    .use(userRoutes(ctx))
    .use(groupRoutes(ctx))
    .use(groupMemberRoutes(ctx))
    .use(settingsRoutes(ctx))
    .use(mailTestRoutes(ctx))
    .use(apiKeyRoutes(ctx))
    .use(auditRoutes(ctx))
    .use(projectAuditRoutes(ctx))
    .use(logRoutes(ctx))
    .use(analyticsRoutes(ctx, explainerOf(ctx, isApiRoute)))
    .use(projectLogRoutes(ctx))
    .use(attentionRoutes(ctx))
    .use(storageRoutes(ctx))
    .use(machineRoutes(ctx))
    .use(backupRoutes(ctx))
    .use(certificateRoutes(ctx))
    .use(cdnRoutes(ctx))
    .use(purgeRoutes(ctx))
    .use(webhookRoutes(ctx))
    .use(retentionRoutes(ctx))
    .use(releaseCheckRoutes(ctx))
    .use(quotaRoutes(ctx))
    .use(projectWebhookRoutes(ctx))
    .use(publishingRoutes(ctx))
    .use(pipelineRoutes(ctx))

/** What pipelines store, what they did, and when they run by themselves. */
const pipelineRoutes = (ctx: Context): AnyElysia =>
  (new Elysia() as AnyElysia)
    .use(schemaRoutes(ctx))
    .use(recordRoutes(ctx))
    .use(fileRoutes(ctx, serveDownload))
    .use(runRoutes(ctx))
    .use(scheduleRoutes(ctx))

/** What is published, and where it is shown. */
const publishingRoutes = (ctx: Context): AnyElysia =>
  (new Elysia() as AnyElysia)
    .use(deploymentRoutes(ctx))
    .use(compareRoutes(ctx, serveContent))
    .use(numberedDeploymentRoutes(ctx))
    .use(reportRoutes(ctx))
    .use(deploymentUploadRoutes(ctx))
    .use(aliasRoutes(ctx))
    .use(previewRoutes(ctx))
    .use(assetRoutes(ctx))
    .use(assetUploadRoutes(ctx))

/** Paths that answer in JSON, whatever the request accepts. */
const isApiPath = (path: string): boolean => /^\/(api|_svc\/auth)(\/|$)/.test(path)

/** Paths that a browser navigates to automatically during sign-in. */
const isVisited = (path: string): boolean => /^\/(api|_svc)\/auth\/(callback$|oidc\/)/.test(path)

const nothingHere = (ctx: Context, request: Request): Response =>
  failurePage(ctx, request, new AppError('not_found', 'There is nothing at this address.'))

/** Serves an asset of the pages. Its name contains the hash of its content. */
function assetAnswer(path: string): Response | undefined {
  const asset = assets.get(path)
  return (
    asset && new Response(asset.body, { headers: { ...ASSET_HEADERS, 'content-type': asset.contentType } })
  )
}

const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
}

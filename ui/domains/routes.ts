import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { isProjectRole } from '../../src/domain/roles.ts'
import { findAliasByName } from '../../src/modules/aliases/service.ts'
import { newDomainBody } from '../../src/modules/domains/model.ts'
import {
  askCertificate,
  changeDomain,
  createDomain,
  type DomainChange,
  type DomainView,
  deleteDomain,
  getDomain,
  listDomains,
  verifyDomain,
} from '../../src/modules/domains/service.ts'
import { findSplit } from '../../src/modules/traffic/service.ts'
import { ownAddresses } from '../../src/platform/own-addresses.ts'
import { page } from '../components/html.ts'
import { booleanOf, checkInput, type Form, UNREAD_BODY } from '../frame/form.ts'
import { queryOf, visitUrl } from '../frame/page-request.ts'
import {
  aliasNamesOf,
  doneNotice,
  type Failed,
  type Looking,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { domainPage } from './domain.ts'
import { domainsPage } from './domains.ts'

/** The domains of a project: what they show, and how they are verified. */
export const domainPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/domains', ({ request, params }) => showDomains(ctx, request, params.id))
    .post(
      '/projects/:id/domains',
      ({ request, params }) => submitDomains(ctx, request, params.id),
      UNREAD_BODY,
    )
    .get('/projects/:id/domains/:domainId', ({ request, params }) => showDomain(ctx, request, params))
    .post(
      '/projects/:id/domains/:domainId',
      ({ request, params }) => submitDomain(ctx, request, params),
      UNREAD_BODY,
    )

function showDomains(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const query = { projectId: id, page: queryOf(request, 'page'), sort: 'hostname', order: 'asc' }
  const found = listDomains(ctx, looking.grant, query)
  const rows = found.data.map((domain) => ({ ...domain, split: findSplit(ctx, looking.grant, domain.id) }))
  return page(
    domainsPage({
      ...looking,
      found: { ...found, data: rows },
      aliasNames: aliasNamesOf(ctx, looking),
      baseDomain: ctx.config.baseDomain,
      failed,
      notices: doneNotice(request, { deleted: 'The domain was removed.' }),
    }),
    failed?.error.status,
  )
}

const submitDomains = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'domain:manage',
    intents: {
      create: {
        isOnce: true,
        run({ grant, form }) {
          const input = { ...settingsOf(form), hostname: hostOf(form.text('hostname')) }
          checkInput(ctx, request, newDomainBody, { ...input, projectId: id })
          const domain = createDomain(ctx, grant, input)
          return `/projects/${id}/domains/${domain.id}?done=created`
        },
      },
    },
    show: (failed) => showDomains(ctx, request, id, failed),
  })

/** People paste addresses: `https://www.example.com/`. */
const hostOf = (typed: string): string =>
  typed
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')

type Place = { id: string; domainId: string }

async function showDomain(
  ctx: Context,
  request: Request,
  { id, domainId }: Place,
  failed?: Failed,
): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const domain = getDomain(ctx, looking.grant, domainId)
  return page(
    domainPage({
      ...looking,
      domain,
      visitUrl: visitUrlOf(ctx, request, looking, domain),
      split: findSplit(ctx, looking.grant, domainId),
      aliasNames: aliasNamesOf(ctx, looking),
      baseDomain: ctx.config.baseDomain,
      adminHost: ctx.config.adminHost,
      addresses: await ownAddresses(ctx.config),
      tls: ctx.config.tls,
      failed,
      notices: doneNotice(request, {
        created: 'The domain was added.',
        verified: 'The domain is verified and now serves.',
        certified: 'The certificate was issued.',
        saved: 'Saved.',
      }),
    }),
    failed?.error.status,
  )
}

/** A host that redirects does not check access. */
function visitUrlOf(ctx: Context, request: Request, { project }: Looking, domain: DomainView): string {
  const { url, alias, isPublic, redirectTo } = domain
  if (redirectTo !== null) return url
  const inherited = findAliasByName(ctx, project.id, alias)?.isPublic ?? project.isPublic
  return visitUrl(ctx, request, { url, isPublic: isPublic ?? inherited })
}

const submitDomain = (ctx: Context, request: Request, { id, domainId }: Place) => {
  const place = `/projects/${id}/domains/${domainId}`
  const verify = async (grant: Looking['grant'], isTrusted: boolean) => {
    const { verification } = await verifyDomain(ctx, grant, domainId, { verified: isTrusted })
    return verification.verifiedAt === null ? `${place}#proof` : `${place}?done=verified`
  }
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'domain:manage',
    intents: {
      verify: { run: ({ grant }) => verify(grant, false) },
      trust: { run: ({ grant }) => verify(grant, true) },
      certificate: {
        async run({ grant }) {
          const { certificate } = await askCertificate(ctx, grant, domainId)
          const isThere = certificate.status === 'active' && certificate.error === null
          return isThere ? `${place}?done=certified` : `${place}#certificate`
        },
      },
      settings: {
        run({ grant, form }) {
          changeDomain(ctx, grant, domainId, settingsOf(form))
          return `${place}?done=saved`
        },
      },
      delete: {
        isOnce: true,
        run({ grant }) {
          deleteDomain(ctx, grant, domainId)
          return `/projects/${id}/domains?done=deleted`
        },
      },
    },
    show: (failed) => showDomain(ctx, request, { id, domainId }, failed),
  })
}

/** An empty field inherits its value or does not apply. */
function settingsOf(form: Form): DomainChange & { alias: string } {
  const role = form.text('requiredRole')
  return {
    alias: form.text('alias').trim(),
    pathPrefix: form.text('pathPrefix').trim() || null,
    redirectTo: form.text('redirectTo').trim() || null,
    isPublic: booleanOf(form.text('isPublic')),
    isSpa: booleanOf(form.text('isSpa')),
    requiredRole: isProjectRole(role) ? role : null,
  }
}

import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { bodyText } from '../../http/body-text.ts'
import { pageOf } from '../../http/pagination.ts'
import { type BodyInput, guard, type PathInput } from '../auth/guard.ts'
import { aboutFilters, aboutProject } from '../projects/service.ts'
import { domainPatchBody, domainQuery, domainView, newDomainBody, verifyBody } from './model.ts'
import {
  aboutDomain,
  askCertificate,
  changeDomain,
  createDomain,
  deleteDomain,
  getDomain,
  listDomains,
  verifyDomain,
} from './service.ts'

export const domainRoutes = (ctx: Context) => {
  const onFilters = { on: ({ query }: PathInput) => aboutFilters(ctx, query) }
  const onDomain = { on: ({ params }: PathInput) => aboutDomain(ctx, params['id']) }
  const onBody = ({ body }: BodyInput) => aboutProject(ctx, bodyText(body, 'projectId'))
  return new Elysia({ prefix: '/api/domains', tags: ['Domains'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listDomains(ctx, grant, query), {
      may: { action: 'project:list', ...onFilters },
      query: domainQuery,
      response: pageOf(domainView),
      detail: { summary: 'Domains of the projects that the caller may read' },
    })
    .post('/', ({ grant, body, status }) => status(201, createDomain(ctx, grant, body)), {
      may: { action: 'domain:manage', onBody },
      body: newDomainBody,
      response: { 201: domainView },
      detail: {
        summary: 'Map a host to an alias',
        description:
          'A host outside the base domain serves nothing (421) until `verify` finds the TXT record that ' +
          '`verification` names, or the same value at its `url`. Administrators can skip this with `verified: true`. ' +
          'Until one project has proven it, others may claim the host too; while several do, only the TXT record counts.',
      },
    })
    .get('/:id', ({ grant, params }) => getDomain(ctx, grant, params.id), {
      may: { action: 'project:read', ...onDomain },
      response: domainView,
      detail: { summary: 'A domain' },
    })
    .patch('/:id', ({ grant, params, body }) => changeDomain(ctx, grant, params.id, body), {
      may: { action: 'domain:manage', ...onDomain },
      body: domainPatchBody,
      response: domainView,
      detail: { summary: 'Change what a domain shows' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteDomain(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'domain:manage', ...onDomain },
        response: { 204: t.Undefined() },
        detail: { summary: 'Remove a domain' },
      },
    )
    .post('/:id/verify', ({ grant, params, body }) => verifyDomain(ctx, grant, params.id, body ?? {}), {
      may: { action: 'domain:manage', ...onDomain },
      body: verifyBody,
      response: domainView,
      detail: {
        summary: 'Look for the proof that the host is yours',
        description: 'The first proof wins. 409 once another project has proven the host.',
      },
    })
    .post('/:id/certificate', ({ grant, params }) => askCertificate(ctx, grant, params.id), {
      may: { action: 'domain:manage', ...onDomain },
      response: domainView,
      detail: {
        summary: 'Order the certificate of the host now',
        description:
          'The server orders certificates automatically and retries after failures. Use this after you fixed a problem. ' +
          '429 while the certificate authority must not be asked again; 409 if a proxy holds the certificates.',
      },
    })
}

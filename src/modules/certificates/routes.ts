import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { certificatesView, wildcardView } from './model.ts'
import { getCertificates, retryWildcard } from './service.ts'

export const certificateRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/certificates', tags: ['Setup and health'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getCertificates(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: certificatesView,
      detail: {
        summary: 'The certificates of this server, and the one for every host below the base domain',
        description:
          'With `ACME_DNS` one certificate covers `BASE_DOMAIN` and every host one label below it, so that none of these has ' +
          'one of its own. `record` is what a person has to set, once, where the DNS of the domain is managed.',
      },
    })
    .post('/wildcard/retry', ({ grant }) => retryWildcard(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: wildcardView,
      detail: {
        summary: 'Order the certificate for every host now',
        description:
          'The server orders it by itself and retries after failures. Use this after you fixed a problem. 409 ' +
          '`WILDCARD_NOT_SET_UP` without `ACME_DNS`; 429 while the certificate authority must not be asked again.',
      },
    })

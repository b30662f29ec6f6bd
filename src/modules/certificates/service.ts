import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { WildcardState } from '../../platform/certificates.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import type { CertificatesView, WildcardView } from './model.ts'

export type { CertificatesView, CertificateView, WildcardView } from './model.ts'

export function getCertificates(ctx: Context, _grant: Grant): CertificatesView {
  const { tls, acmeDirectory } = ctx.config
  const wildcard = ctx.certificates.wildcard()
  return {
    tls,
    directory: tls === 'auto' ? acmeDirectory : null,
    wildcard: wildcard && viewOf(wildcard),
    certificates: ctx.certificates.list().map(({ host, status, expiresAt, error, method }) => ({
      host,
      status,
      expiresAt: timeOf(expiresAt),
      error,
      method,
    })),
  }
}

/** Orders the wildcard now, or joins the order that runs. Throws 429 while the authority must not be asked. contract 19.5. */
export async function retryWildcard(ctx: Context, grant: Grant): Promise<WildcardView> {
  const name = requireWildcard(ctx).hosts.at(-1) ?? ''
  await ctx.certificates.retryWildcard()
  inTransaction(ctx.db, (tx) =>
    audit(ctx, tx, grant.actor, {
      action: 'certificate.retry',
      target: { kind: 'certificate', id: name, name },
    }),
  )
  authorizeAgain(ctx, grant, 'workspace:administer')
  return viewOf(requireWildcard(ctx))
}

function requireWildcard(ctx: Context): WildcardState {
  const wildcard = ctx.certificates.wildcard()
  if (wildcard !== null) return wildcard
  throw new AppError(
    'conflict',
    'This server has no wildcard certificate: start it with TLS=auto and ACME_DNS',
    { code: 'WILDCARD_NOT_SET_UP' },
  )
}

const viewOf = ({ hosts, provider, status, error, record, ...times }: WildcardState): WildcardView => ({
  hosts,
  provider,
  status,
  expiresAt: timeOf(times.expiresAt),
  renewAt: timeOf(times.renewAt),
  triedAt: timeOf(times.triedAt),
  error,
  record,
})

const timeOf = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

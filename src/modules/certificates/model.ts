import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

const text = orNull(t.String())

/** `error` of a failed one says why; it is tried again. Times are null until there is something to say. */
export const wildcardView = t.Object({
  hosts: t.Array(t.String(), { description: 'BASE_DOMAIN and *.BASE_DOMAIN' }),
  provider: t.String({ description: 'ACME_DNS' }),
  status: t.Union([t.Literal('pending'), t.Literal('valid'), t.Literal('failed')]),
  expiresAt: text,
  renewAt: text,
  triedAt: text,
  error: text,
  record: t.Union(
    [
      t.Object({
        name: t.String(),
        type: t.Union([t.Literal('CNAME'), t.Literal('TXT')]),
        value: t.String(),
      }),
      t.Null(),
    ],
    { description: 'What a person has to set where the DNS of the domain is managed; null: nothing' },
  ),
})
export type WildcardView = Static<typeof wildcardView>

const certificateView = t.Object({
  host: t.String(),
  status: t.Union([
    t.Literal('off'),
    t.Literal('pending'),
    t.Literal('active'),
    t.Literal('expired'),
    t.Literal('failed'),
  ]),
  expiresAt: text,
  error: text,
  method: t.Union(
    [t.Literal('http-01'), t.Literal('dns-01'), t.Literal('dns-persist-01'), t.Literal('file')],
    { description: 'How the authority was shown that the host is ours; file: TLS_CERT_FILE' },
  ),
})
export type CertificateView = Static<typeof certificateView>

export const certificatesView = t.Object({
  tls: t.Union([t.Literal('off'), t.Literal('auto'), t.Literal('files')]),
  directory: t.Union([t.String(), t.Null()], { description: 'ACME_DIRECTORY; null unless TLS=auto' }),
  wildcard: t.Union([wildcardView, t.Null()], { description: 'Null without ACME_DNS' }),
  certificates: t.Array(certificateView, { description: 'The hosts with a certificate of their own' }),
})
export type CertificatesView = Static<typeof certificatesView>

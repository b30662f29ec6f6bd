import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { pageQuery } from '../../http/pagination.ts'
import { projectRole } from '../projects/model.ts'

const inherited = t.Optional(t.Union([t.Boolean(), t.Null()], { error: 'true, false, or null to inherit' }))
const alias = t.String({
  minLength: 1,
  maxLength: 64,
  error: 'The name of an alias',
  examples: ['production'],
})
const settings = {
  pathPrefix: t.Optional(
    t.Union([t.String(), t.Null()], { error: 'A folder of the deployment, such as /docs, or null' }),
  ),
  isPublic: inherited,
  isSpa: inherited,
  requiredRole: t.Optional(t.Union([projectRole, t.Null()], { error: 'A project role, or null to inherit' })),
  redirectTo: t.Optional(
    t.Union([t.String({ maxLength: 1000 }), t.Null()], {
      error: 'A host name or an address that visitors are sent to, or null',
    }),
  ),
  verified: t.Optional(t.Boolean({ error: 'true skips the proof; for administrators of the workspace' })),
}

export const newDomainBody = t.Object({
  projectId: t.String({ error: 'The id of a project' }),
  hostname: t.String({ error: 'A host name', examples: ['docs.example.com'] }),
  alias,
  ...settings,
})

/** The project is that of the grant. */
export type NewDomain = Omit<InputOf<typeof newDomainBody>, 'projectId'>

export const domainPatchBody = t.Object({ alias: t.Optional(alias), ...settings })
export type DomainChange = InputOf<typeof domainPatchBody>

export const verifyBody = t.Optional(
  t.Object({ verified: settings.verified }, { examples: [{ verified: true }] }),
)

export const domainQuery = t.Object({
  ...pageQuery,
  projectId: t.Optional(t.String()),
  hostname: t.Optional(t.String()),
})

const text = orNull(t.String())

/**
 * contract §10. `pathPrefix` is a folder inside what the alias serves, null for all of it. `verification` says how to
 * prove the host: with a TXT record of that name and value, or with the value as the response at `url`, which is null
 * while only the record counts, because several projects claim the host. `checkedAt` and `error` are those of the last
 * check; the error of a claim that lost says so. `certificate` is that of this server's own listener: `off` if a proxy holds the
 * certificates; an active one with an error could not be renewed.
 */
export const domainView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  hostname: t.String(),
  alias: t.String(),
  pathPrefix: text,
  isPublic: orNull(t.Boolean()),
  isSpa: orNull(t.Boolean()),
  requiredRole: orNull(projectRole),
  redirectTo: text,
  url: t.String(),
  dnsRecords: t.Array(
    t.Object({ type: t.Union([t.Literal('A'), t.Literal('AAAA')]), name: t.String(), value: t.String() }),
    {
      description:
        'What leads the host to this server; empty where its addresses are not known, or nothing is to be set',
    },
  ),
  verification: t.Object({
    method: t.Union([t.Literal('base_domain'), t.Literal('txt'), t.Literal('http'), t.Literal('admin')]),
    name: text,
    value: text,
    url: text,
    verifiedAt: text,
    checkedAt: text,
    error: text,
  }),
  certificate: t.Object({
    status: t.Union([
      t.Literal('off'),
      t.Literal('pending'),
      t.Literal('active'),
      t.Literal('expired'),
      t.Literal('failed'),
    ]),
    expiresAt: text,
    error: text,
  }),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type DomainView = Static<typeof domainView>

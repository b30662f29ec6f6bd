import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

/** `contributor`: rules of everybody who may write some can use it; `admin`: only those of project admins. contract 12.8. */
const usableBy = t.Union([t.Literal('contributor'), t.Literal('admin')], { error: 'contributor or admin' })
export type UsableBy = Static<typeof usableBy>

export const secretBody = t.Object({
  value: t.String({ examples: ['s3cr3t'] }),
  usableBy: t.Optional(usableBy),
})

/** The rules that were switched off, because they use the secret and were last written below project admin. */
export const tightenedAnswer = t.Object({
  disabledRules: t.Array(
    t.Object({ id: t.String({ format: 'uuid' }), pathPattern: t.String(), method: orNull(t.String()) }),
  ),
})

/** A project's secret as the API shows it: the value is never read back. contract §9.4. */
const secretView = t.Object({ name: t.String(), usableBy, updatedAt: t.String() })
export type SecretView = Static<typeof secretView>

export const secretsView = t.Object({ secrets: t.Array(secretView) })

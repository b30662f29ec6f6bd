import { type Static, type TSchema, t } from 'elysia'
import {
  MAX_CHECK_NAME,
  MAX_CHECK_PATH,
  MAX_CHECKED_ALIASES,
  MAX_CHECKS,
  MAX_CONTAINS,
} from '../../domain/release-checks.ts'
import { orNull } from '../../http/or-null.ts'
import { projectView } from '../projects/model.ts'

const check = t.Object({
  name: orNull(t.String()),
  path: t.String(),
  status: t.Integer(),
  contains: orNull(t.String()),
  maxBytes: orNull(t.Integer()),
})

/** What is checked before an alias of the project moves. contract 13 §8. */
export const releaseChecksView = t.Object({
  aliases: orNull(t.Array(t.String())),
  startPage: t.Boolean(),
  checks: t.Array(check),
})
export const projectChecksView = t.Union([releaseChecksView, projectView])

const optional = <T extends TSchema>(schema: T) => t.Optional(orNull(schema))

/** Replaces what is set. What an empty one does not say holds: all aliases, the start page. */
export const releaseChecksBody = t.Partial(
  t.Object({
    aliases: orNull(t.Array(t.String(), { maxItems: MAX_CHECKED_ALIASES })),
    startPage: t.Boolean({ description: '`/` was 200 before the move and must be after it', default: true }),
    checks: t.Array(
      t.Object({
        name: optional(t.String({ maxLength: MAX_CHECK_NAME })),
        path: t.String({ maxLength: MAX_CHECK_PATH }),
        status: optional(t.Integer({ default: 200 })),
        contains: optional(t.String({ maxLength: MAX_CONTAINS })),
        maxBytes: optional(t.Integer()),
      }),
      { maxItems: MAX_CHECKS, error: `A list of at most ${MAX_CHECKS} checks` },
    ),
  }),
  {
    examples: [
      {
        aliases: ['production'],
        startPage: true,
        checks: [{ name: 'imprint', path: '/imprint', contains: 'Register', maxBytes: 200_000 }],
      },
    ],
  },
)

/** What one check saw; `ok` null: it was not run. */
export const checkResultView = t.Object({
  name: t.String(),
  path: t.String(),
  ok: orNull(t.Boolean()),
  message: orNull(t.String()),
})
export type CheckResult = Static<typeof checkResultView>

const status = t.Union([
  t.Literal('none'),
  t.Literal('moved'),
  t.Literal('passed'),
  t.Literal('failed'),
  t.Literal('forced'),
  t.Literal('locked'),
  t.Literal('overtaken'),
  t.Literal('asked'),
])
export type ReleaseStatus = Static<typeof status>

/** What became of the alias that an upload named. contract 13 §7. */
export const releaseView = t.Object({
  status,
  alias: orNull(t.String()),
  checks: t.Array(checkResultView),
})
export type Release = Static<typeof releaseView>

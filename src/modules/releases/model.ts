import { type Static, t } from 'elysia'
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

/** Only for the documentation: what is wrong is told all at once, by the code that reads checks files. */
export const releaseChecksBody = t.Unknown({
  type: 'object',
  description: `\`aliases\`: up to ${MAX_CHECKED_ALIASES} names, null for all; \`startPage\`: \`/\` must stay 200 (default true); \`checks\`: up to ${MAX_CHECKS} of \`{ name?, path, status?, contains?, maxBytes? }\`, with at most ${MAX_CHECK_NAME}, ${MAX_CHECK_PATH} and ${MAX_CONTAINS} characters in name, path and contains`,
  examples: [
    {
      aliases: ['production'],
      startPage: true,
      checks: [{ name: 'imprint', path: '/imprint', contains: 'Register', maxBytes: 200_000 }],
    },
  ],
})

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
])
export type ReleaseStatus = Static<typeof status>

/** What became of the alias that an upload named. contract 13 §7. */
export const releaseView = t.Object({
  status,
  alias: orNull(t.String()),
  checks: t.Array(checkResultView),
})
export type Release = Static<typeof releaseView>

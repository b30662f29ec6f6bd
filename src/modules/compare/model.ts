import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'

const CHANGE_KINDS = [
  t.Literal('added'),
  t.Literal('changed'),
  t.Literal('removed'),
  t.Literal('moved'),
] as const

const withTarget = {
  with: t.String({
    minLength: 1,
    error: 'The deployment to compare with: its id, an alias that shows it, or its number',
  }),
}
const path = t.String({ minLength: 1, error: 'The path of a file in the deployment' })

export const compareQuery = t.Object({
  ...pageQuery,
  ...withTarget,
  kind: t.Optional(
    t.Union([t.Literal(''), ...CHANGE_KINDS], { error: 'One of added, changed, removed, moved' }),
  ),
})
export const compareFileQuery = t.Object({
  ...withTarget,
  path,
  format: t.Optional(
    t.Union([t.Literal(''), t.Literal('json'), t.Literal('patch')], {
      error: 'patch, for a unified diff; JSON without it',
    }),
  ),
})
export const contentQuery = t.Object({ path })

const kindView = t.Union([...CHANGE_KINDS])
const sideView = t.Object({
  id: t.String({ format: 'uuid' }),
  number: t.Integer(),
  title: orNull(t.String()),
  commitSha: t.String(),
})
export type SideView = Static<typeof sideView>

/** `size` of what was removed is that of the old file. */
export const changeView = t.Object({
  kind: kindView,
  path: t.String(),
  fromPath: orNull(t.String({ description: 'Where it was before it moved' })),
  size: t.Integer(),
  fromSize: orNull(t.Integer({ description: 'Before it changed or moved' })),
  mimeType: t.String(),
  isText: t.Boolean({ description: 'UTF-8 without NUL, on both sides; of more than 1 MiB the first counts' }),
})
export type ChangeView = Static<typeof changeView>

/** contract 17.4 */
export const comparisonView = t.Object({
  from: sideView,
  to: sideView,
  counts: t.Object({
    added: t.Integer(),
    changed: t.Integer(),
    removed: t.Integer(),
    moved: t.Integer(),
    unchanged: t.Integer(),
  }),
  ...pageOf(changeView).properties,
})
export type ComparisonView = Static<typeof comparisonView>

const hunkView = t.Object({
  fromStart: t.Integer(),
  fromLines: t.Integer(),
  toStart: t.Integer(),
  toLines: t.Integer(),
  lines: t.Array(t.String(), {
    description: 'Each begins with a blank, "-" or "+", or is "\\ No newline at end of file"',
  }),
})

export const fileComparisonView = t.Object({
  path: t.String(),
  fromPath: orNull(t.String()),
  kind: t.Union([...CHANGE_KINDS, t.Literal('unchanged')]),
  isText: t.Boolean(),
  tooLarge: t.Boolean({ description: 'A side has more than 1 MiB or 20,000 lines' }),
  hunks: t.Array(hunkView),
})
export type FileComparisonView = Static<typeof fileComparisonView>

import { type Static, t } from 'elysia'
import { ALIAS_NAME, COMMIT_SHA } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { pageQuery } from '../../http/pagination.ts'
import { htmlHandlingOrNull, nameField, ownerField, projectRole } from '../projects/model.ts'

const commitSha = t.String({
  pattern: COMMIT_SHA,
  error: '7 to 64 hexadecimal digits: the full commit SHA or a prefix',
  examples: ['3f2a9c1'],
})

const settings = {
  isPublic: t.Optional(t.Union([t.Boolean(), t.Null()], { error: 'true, false, or null to inherit' })),
  isSpa: t.Optional(t.Union([t.Boolean(), t.Null()], { error: 'true, false, or null to inherit' })),
  requiredRole: t.Optional(t.Union([projectRole, t.Null()], { error: 'A project role, or null to inherit' })),
  isLocked: t.Optional(t.Boolean({ error: 'true or false' })),
  htmlHandling: t.Optional(htmlHandlingOrNull),
}

/** By id, or the newest version of a SHA, which may be shortened if it is unambiguous. */
const deploymentChoice = {
  deploymentId: t.Optional(t.String({ error: 'The id of a deployment of this project' })),
  commitSha: t.Optional(commitSha),
  basePath: t.Optional(
    t.String({
      error: 'The folder of that deployment to show, such as /dist',
      description: 'By default as the alias showed it before, else as it was uploaded',
      examples: ['/dist'],
    }),
  ),
}

export const newAliasBody = t.Object({
  projectId: t.Optional(t.String()),
  owner: t.Optional(ownerField),
  repo: t.Optional(nameField),
  name: t.String({
    pattern: ALIAS_NAME,
    error: '1 to 64 of A-Z, a-z, 0-9, hyphen and underscore',
    examples: ['production'],
  }),
  ...deploymentChoice,
  ...settings,
})
export type NewAlias = InputOf<typeof newAliasBody>

export const aliasPatchBody = t.Object({
  ...deploymentChoice,
  ...settings,
  expiresAt: t.Optional(
    t.Union([t.String(), t.Null()], {
      error: 'A time in ISO 8601 when the alias ends, or null: it stays',
      examples: ['2026-11-20T12:00:00.000Z'],
    }),
  ),
})
export type AliasChange = InputOf<typeof aliasPatchBody>

export const aliasQuery = t.Object({
  ...pageQuery,
  projectId: t.Optional(t.String()),
  owner: t.Optional(t.String()),
  repo: t.Optional(t.String()),
  name: t.Optional(t.String()),
})

/** Without `to`: the deployment that the alias showed before. */
export const rollbackBody = t.Object({
  to: t.Optional(
    t.String({
      error: 'The id of a deployment that the alias showed before',
      examples: ['01934f5e-7c00-7000-8000-000000000000'],
    }),
  ),
})

/** contract §5.1. */
export const aliasView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  owner: t.String(),
  repo: t.String(),
  name: t.String(),
  deploymentId: t.String({ format: 'uuid' }),
  commitSha: t.String(),
  version: t.Integer({ description: 'Of the commit' }),
  number: t.Integer({ description: 'Of the deployment, within the project' }),
  title: orNull(t.String()),
  isPublic: orNull(t.Boolean()),
  isSpa: orNull(t.Boolean()),
  requiredRole: orNull(projectRole),
  isLocked: t.Boolean(),
  isPreview: t.Boolean({ description: 'It has an end' }),
  expiresAt: orNull(t.String({ description: 'When it is gone' })),
  pullRequest: orNull(t.Object({ number: t.Integer(), url: orNull(t.String()) })),
  htmlHandling: htmlHandlingOrNull,
  url: t.String(),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type AliasView = Static<typeof aliasView>

/** An alias with an end, and what was published as it. */
export const previewView = t.Object({
  ...aliasView.properties,
  deployments: t.Integer(),
  lastPublishedAt: orNull(t.String()),
})
export type PreviewView = Static<typeof previewView>

/** Who made something. */
export const actorView = t.Object({
  kind: t.Union([t.Literal('user'), t.Literal('key'), t.Literal('operator')]),
  id: orNull(t.String()),
  name: orNull(t.String()),
})

export const historyView = t.Object({
  deploymentId: t.String({ format: 'uuid' }),
  commitSha: t.String(),
  version: t.Integer(),
  number: orNull(t.Integer({ description: 'Null if it was deleted before there were numbers' })),
  title: orNull(t.String()),
  movedBy: actorView,
  movedAt: t.String(),
  reason: t.Union([t.Literal('create'), t.Literal('publish'), t.Literal('move'), t.Literal('rollback')]),
  exists: t.Boolean({ description: 'False when the deployment was deleted' }),
})
export type HistoryView = Static<typeof historyView>

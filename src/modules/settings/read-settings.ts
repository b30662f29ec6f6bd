import type { PrivateSiteResponse } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { generationCache } from '../../db/generation.ts'
import type { Settings } from './model.ts'
import { readSettingRows } from './queries.ts'

export type Setting<T> = { value: T; source: 'environment' | 'database' | 'default' }

const cache = generationCache<Settings>('access', 1)

/** Every setting with its source: the environment overrides the database, which overrides the default. */
export function readSettings(ctx: Context): Settings {
  return cache.get(ctx.db, 'all', () => loadSettings(ctx)) ?? loadSettings(ctx)
}

function loadSettings(ctx: Context): Settings {
  const rows = readSettingRows(ctx.db.orm)
  const { requireProjectMembership, privateSiteResponse, pictures } = ctx.config
  const stored = (key: string): string | undefined => rows.get(key)
  return {
    requireProjectMembership: pick(
      requireProjectMembership,
      asBoolean(stored('requireProjectMembership')),
      false,
    ),
    allowPublicSignups: pick(null, asBoolean(stored('allowPublicSignups')), false),
    privateSiteResponse: pick(privateSiteResponse, asResponse(stored('privateSiteResponse')), 'not_found'),
    pictures: pick(pictures, asBoolean(stored('pictures')), true),
  }
}

function pick<T>(environment: T | null, database: T | undefined, fallback: T): Setting<T> {
  if (environment !== null) return { value: environment, source: 'environment' }
  if (database !== undefined) return { value: database, source: 'database' }
  return { value: fallback, source: 'default' }
}

const asBoolean = (text: string | undefined): boolean | undefined =>
  text === undefined ? undefined : text === 'true'
const asResponse = (text: string | undefined): PrivateSiteResponse | undefined =>
  text === 'login' || text === 'not_found' ? text : undefined

import type { Context } from '../../context.ts'
import { groupCommit } from '../../db/group-commit.ts'
import { AppError } from '../../domain/errors.ts'
import { findSchemaOf, type Schema } from '../schemas/service.ts'

/**
 * A change of the schema may have been committed since the step read it; the record must match the schema at the time
 * of its own commit. Looked up here first, because lookups inside a transaction are not cached for the next one.
 */
export function committed<T>(
  ctx: Context,
  { id, projectId }: Schema,
  write: (db: Context['db'], currentSchema: Schema) => T extends Promise<unknown> ? never : T,
): Promise<T> {
  findSchemaOf(ctx, projectId, id)
  return groupCommit(ctx.db, (db) => {
    const currentSchema = findSchemaOf(ctx, projectId, id)
    if (currentSchema === undefined) throw deletedMeanwhile()
    return write(db, currentSchema)
  })
}

export const deletedMeanwhile = () => new AppError('internal', 'The schema of this step was deleted just now')

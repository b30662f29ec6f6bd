import { type Static, t } from 'elysia'
import { FIELD_TYPES, type FieldType } from '../../domain/field-types.ts'

/** The service reports what is wrong with the fields, all at once. */
const fields = t.Array(t.Unknown(), {
  description: `The whole list of { name, type, required?, unique?, default? }; types: ${FIELD_TYPES.join(', ')}`,
  examples: [[{ name: 'email', type: 'email', required: true }]],
})

export const newSchemaBody = t.Object({
  projectId: t.String(),
  name: t.String({ examples: ['contacts'] }),
  fields,
})

export const schemaPatchBody = t.Object({
  name: t.Optional(t.String()),
  fields: t.Optional(fields),
})

/** contract §9.4. */
export const schemaView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  name: t.String(),
  fields: t.Array(
    t.Object({
      name: t.String(),
      type: t.Unsafe<FieldType>(t.String()),
      required: t.Boolean(),
      unique: t.Boolean(),
      default: t.Optional(t.Unknown()),
    }),
  ),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type SchemaView = Static<typeof schemaView>

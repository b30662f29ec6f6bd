import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { bodyText } from '../../http/body-text.ts'
import { type BodyInput, guard, type PathInput } from '../auth/guard.ts'
import { aboutProject } from '../projects/service.ts'
import { newSchemaBody, schemaPatchBody, schemaView } from './model.ts'
import { aboutSchema, changeSchema, createSchema, deleteSchema, getSchema, listSchemas } from './service.ts'

/** contract §9.4; rights: Configure traffic. */
export const schemaRoutes = (ctx: Context) => {
  const onQuery = { on: ({ query }: PathInput) => aboutProject(ctx, query['projectId']) }
  const onBody = ({ body }: BodyInput) => aboutProject(ctx, bodyText(body, 'projectId'))
  const onSchema = { on: ({ params }: PathInput) => aboutSchema(ctx, params['id']) }
  const mayConfigure = { action: 'traffic:configure', ...onSchema } as const
  return new Elysia({ prefix: '/api/schemas', tags: ['Schemas'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => ({ schemas: listSchemas(ctx, grant) }), {
      may: { action: 'project:read', ...onQuery },
      query: t.Object({ projectId: t.String() }),
      response: t.Object({ schemas: t.Array(schemaView) }),
      detail: { summary: 'Schemas of a project' },
    })
    .post('/', ({ grant, body, status }) => status(201, createSchema(ctx, grant, body)), {
      may: { action: 'traffic:configure', onBody },
      body: newSchemaBody,
      response: { 201: schemaView },
      detail: { summary: 'Create a schema' },
    })
    .get('/:id', ({ grant, params }) => getSchema(ctx, grant, params.id), {
      may: { action: 'project:read', ...onSchema },
      response: schemaView,
      detail: { summary: 'A schema' },
    })
    .patch('/:id', ({ grant, params, body }) => changeSchema(ctx, grant, params.id, body), {
      may: mayConfigure,
      body: schemaPatchBody,
      response: schemaView,
      detail: { summary: 'Rename a schema or change its fields; records follow' },
    })
    .delete(
      '/:id',
      async ({ grant, params, status }) => {
        await deleteSchema(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: mayConfigure,
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a schema with its records' },
      },
    )
}

import type { Caller, RequestFacts } from '../context.ts'
import type { SchemaField } from '../domain/schema-fields.ts'
import { Arrival } from '../http/arrival.ts'
import { recordFacts } from '../http/request-facts.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { createSchema } from '../modules/schemas/service.ts'
import type { PipelineConfig, PipelineRule, PipelineStep } from '../pipelines/language/model.ts'
import { servePipeline } from '../site/serve-pipeline.ts'
import { type TestApp, type TestStorage, testApp } from './test-app.ts'

export const IP = '203.0.113.7'
export const ANONYMOUS: Caller = { actor: { kind: 'anonymous', ip: IP }, site: null, refused: null }

const FACTS: RequestFacts = {
  ip: IP,
  isSecure: false,
  host: 'site.test',
  hostWithPort: 'site.test',
  site: null,
  peerAddress: IP,
  isBehindProxy: false,
  forwardedFor: null,
  isDirectLoopback: false,
}

/** Shorthand for a step: id, handler, config. */
export const step = (
  id: string,
  handlerType: string,
  config: Record<string, unknown> = {},
  more: Partial<PipelineStep> = {},
): PipelineStep => ({ id, handlerType, config, ...more })

export type RunOptions = {
  method?: string
  path?: string
  json?: unknown
  body?: BodyInit
  headers?: Record<string, string>
  caller?: Caller
  rule?: Partial<PipelineRule>
  projectId?: string
}

export type PipelineApp = TestApp & {
  projectId: string
  /** Answers a request with a pipeline of the project, like its site. */
  run(config: PipelineConfig | PipelineStep[], options?: RunOptions): Promise<Response>
  /** The same, with the response parsed. */
  answer(
    config: PipelineConfig | PipelineStep[],
    options?: RunOptions,
  ): Promise<{ status: number; body: unknown }>
  addSchema(name: string, fields: Partial<SchemaField>[], projectId?: string): string
  addProject(name: string): string
  /** The stored records, newest first. */
  stored(schemaId: string): Record<string, unknown>[]
}

/** A server with a project, `acme/site`, whose owner is ann@example.com. */
export async function pipelineApp(env?: Record<string, string>, storage?: TestStorage): Promise<PipelineApp> {
  const app = await testApp(env, {}, storage)
  const { ctx } = app
  const ownerId = await app.addUser('ann@example.com')
  const addProject = (name: string): string => {
    const id = ctx.newId()
    const now = ctx.now()
    ctx.db.sqlite
      .query(
        `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at,
          updated_at) VALUES (?, 'acme', ?, 'Site', 1, 0, 'guest', ?, ?)`,
      )
      .run(id, name, now, now)
    ctx.db.sqlite.query("INSERT INTO permissions VALUES (?, ?, 'owner', ?)").run(id, ownerId, now)
    ctx.db.sqlite.query('INSERT INTO memberships VALUES (?, ?, ?)').run(id, ownerId, now)
    return id
  }
  const projectId = addProject('site')

  const run: PipelineApp['run'] = (config, options = {}) => {
    const { method = 'POST', path = '/api/x', json, caller = ANONYMOUS } = options
    const project = { id: options.projectId ?? projectId, owner: 'acme', name: 'site' }
    const body = json === undefined ? options.body : JSON.stringify(json)
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const request = new Request(`http://site.test${path}`, {
      method,
      headers: { ...type, ...options.headers },
      ...(body === undefined ? {} : { body }),
    })
    const arrival = new Arrival(ctx.config, request, { address: IP })
    const rule: PipelineRule = {
      id: 'rule-1',
      projectId: project.id,
      pathPattern: '/api/*',
      method: null,
      pipelineConfig: Array.isArray(config) ? { steps: config } : config,
      debugEnabled: false,
      ...options.rule,
    }
    const site = { project, commitSha: 'abc1234', alias: { id: 'alias-1', name: 'production' }, rules: [] }
    recordFacts(arrival, FACTS)
    return servePipeline(ctx, { arrival, site, rule, caller })
  }

  return {
    ...app,
    projectId,
    addProject,
    run,
    async answer(config, options) {
      const response = await run(config, options)
      return { status: response.status, body: await response.json() }
    },
    addSchema: (name, fields, of = projectId) => createSchema(ctx, operatorGrant(of), { name, fields }).id,
    stored: (schemaId) =>
      ctx.db.sqlite
        .query<{ data: string }, [string]>('SELECT data FROM records WHERE schema_id = ? ORDER BY id DESC')
        .all(schemaId)
        .map(({ data }) => JSON.parse(data)),
  }
}

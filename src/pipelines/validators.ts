import { Type } from 'typebox'
import Value from 'typebox/value'
import type { Caller, Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/ip-ranges.ts'
import { PROJECT_ROLES, roleLevel } from '../domain/roles.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { onePer } from '../platform/one-per.ts'
import type { PipelineRule, PipelineValidator } from './model.ts'
import { RateWindows } from './rate-windows.ts'

/** The checks that run before the steps of a pipeline. contract §9.3. */
export const VALIDATOR_CONFIGS = {
  auth_required: Type.Object(
    {
      roles: Type.Optional(
        Type.Array(Type.String(), {
          description: 'global or project roles; a higher project role is enough',
        }),
      ),
      allowApiKey: Type.Optional(Type.Boolean({ description: 'whether a key of the project is enough' })),
      requiredScopes: Type.Optional(
        Type.Array(Type.String(), {
          description: 'scopes that an API key needs: keys have none, so only people pass',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  rate_limit: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      windowSeconds: Type.Integer({ minimum: 1, maximum: 30 * 24 * 3600 }),
      keyBy: Type.Optional(Type.Union([Type.Literal('ip'), Type.Literal('user')])),
    },
    { additionalProperties: false },
  ),
}

type AuthRequired = Type.Static<(typeof VALIDATOR_CONFIGS)['auth_required']>
type KnownType = keyof typeof VALIDATOR_CONFIGS
type RateLimit = Type.Static<(typeof VALIDATOR_CONFIGS)['rate_limit']>

/**
 * Throws 401, 403 or 429. A validator that this version does not know or cannot parse, or that has a key it does not know,
 * rejects everybody with 501. contract 14.1.
 */
export function checkValidators(ctx: Context, rule: PipelineRule, caller: Caller): void {
  for (const numbered of (rule.pipelineConfig.validators ?? []).entries())
    checkValidator(ctx, rule, caller, numbered)
}

/**
 * Reading the body may take a while. If the caller's rights changed meanwhile, this decides again. Rate limits do not
 * count the request twice.
 */
export function checkAuthAgain(ctx: Context, rule: PipelineRule, caller: Caller): void {
  for (const numbered of (rule.pipelineConfig.validators ?? []).entries())
    if (numbered[1].type !== 'rate_limit') checkValidator(ctx, rule, caller, numbered)
}

function checkValidator(
  ctx: Context,
  rule: PipelineRule,
  caller: Caller,
  [index, { type, config = {}, ...rest }]: [number, PipelineValidator],
): void {
  const known: object = Object.hasOwn(VALIDATOR_CONFIGS, type)
    ? VALIDATOR_CONFIGS[type as KnownType].properties
    : config
  const [unknown] = [...Object.keys(rest), ...Object.keys(config).filter((key) => !Object.hasOwn(known, key))]
  if (unknown !== undefined)
    throw new AppError(
      'not_implemented',
      `This server does not know the key ${unknown} of the validator ${type}`,
    )
  if (type === 'auth_required' && isConfigOf(VALIDATOR_CONFIGS.auth_required, config))
    requireAuth(ctx, rule, caller, config)
  else if (type === 'rate_limit' && isConfigOf(VALIDATOR_CONFIGS.rate_limit, config))
    limitRate(ctx, rule, `${rule.id} ${index}`, caller, config)
  else throw new AppError('not_implemented', `This server cannot check the validator ${type}`)
}

const isConfigOf = <T extends Type.TObject>(
  schema: T,
  config: Record<string, unknown>,
): config is Type.Static<T> => Value.Check(schema, config)

function requireAuth(ctx: Context, { projectId }: PipelineRule, caller: Caller, config: AuthRequired): void {
  const { actor } = caller
  if (actor.kind === 'key' && config.requiredScopes?.length) throw insufficientScope(config.requiredScopes)
  const isKey = actor.kind === 'key' && config.allowApiKey === true
  if (!('user' in actor) && !isKey) throw new AppError('unauthenticated', 'Sign in to use this')
  const role = roleOnSite(ctx, caller, projectId)
  if (actor.kind === 'key' && role === null)
    throw new AppError('forbidden', 'This API key belongs to another project')
  if (config.roles === undefined || config.roles.length === 0) return
  const held: string[] = role === null ? [] : PROJECT_ROLES.slice(0, roleLevel(role) + 1)
  if (actor.kind === 'user') held.push(actor.user.role)
  if (!config.roles.some((one) => held.includes(one)))
    throw new AppError('forbidden', `This needs one of the roles ${config.roles.join(', ')}`)
}

/** Of text that no header may hold, the bytes are written as `%XX`. RFC 6750 §3.1. */
function insufficientScope(scopes: readonly string[]): AppError {
  const named = scopes
    .join(' ')
    .toWellFormed()
    .replace(/[^\x20-\x7e]|["\\]/gu, encodeURIComponent)
  return new AppError('forbidden', `An API key has no scopes, and this needs ${scopes.join(', ')}: sign in`, {
    code: 'INSUFFICIENT_SCOPE',
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${named}"` },
  })
}

const windowsOf = onePer((_: Context) => new RateWindows())

/** `name`: the validator's own among all of the project. */
function limitRate(
  ctx: Context,
  { projectId }: PipelineRule,
  name: string,
  caller: Caller,
  { limit, windowSeconds, keyBy }: RateLimit,
): void {
  const key = `${name} ${keyBy === 'user' ? whoOf(caller) : networkOf(addressOf(caller))}`
  const now = ctx.now()
  const windowMs = windowSeconds * 1000
  const window = windowsOf(ctx).at(projectId, key, now, windowMs)
  window.count += 1
  if (window.count <= limit) return
  const seconds = Math.max(1, Math.ceil((window.startedAt + windowMs - now) / 1000))
  throw new AppError('rate_limited', `Too many requests. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Anonymous callers count by address. */
function whoOf(caller: Caller): string {
  const { actor } = caller
  if ('user' in actor) return `user ${actor.user.id}`
  return actor.kind === 'key' ? `key ${actor.key.id}` : networkOf(addressOf(caller))
}

export const addressOf = ({ actor }: Caller): string => (actor.kind === 'operator' ? '' : actor.ip)

import Value from 'typebox/value'
import type { Caller, Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/ip-ranges.ts'
import { PROJECT_ROLES, roleLevel } from '../domain/roles.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { onePer } from '../platform/one-per.ts'
import type { PipelineRule, PipelineValidator } from './language/model.ts'
import {
  isValidatorType,
  VALIDATOR_CONFIGS,
  type ValidatorConfig,
  type ValidatorType,
} from './language/validators.ts'
import { RateWindows } from './rate-windows.ts'

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

/** Of a run that nobody asked for: what cannot be checked refuses it, and no limit counts it. */
export function checkWithoutVisitor(ctx: Context, rule: PipelineRule): void {
  const caller: Caller = { actor: { kind: 'anonymous', ip: '' }, site: null, refused: null }
  for (const [index, validator] of (rule.pipelineConfig.validators ?? []).entries()) {
    if (validator.type === 'rate_limit') requireReadable(validator)
    else checkValidator(ctx, rule, caller, [index, validator])
  }
}

/** What asks to pass a validator. `name`: the validator's own among all of the project. */
type Asked = { ctx: Context; rule: PipelineRule; caller: Caller; name: string }

/** How each validator checks. */
const CHECKS: { readonly [T in ValidatorType]: (asked: Asked, config: ValidatorConfig<T>) => void } = {
  auth_required: requireAuth,
  rate_limit: limitRate,
}

function checkValidator(
  ctx: Context,
  rule: PipelineRule,
  caller: Caller,
  [index, validator]: [number, PipelineValidator],
): void {
  requireReadable(validator)
  const { type, config = {} } = validator
  if (isValidatorType(type)) check(type, { ctx, rule, caller, name: `${rule.id} ${index}` }, config)
}

/** Throws 501 for what this version does not know. */
function requireReadable({ type, config = {}, ...rest }: PipelineValidator): void {
  const known: object = isValidatorType(type) ? VALIDATOR_CONFIGS[type].properties : config
  const [unknown] = [...Object.keys(rest), ...Object.keys(config).filter((key) => !Object.hasOwn(known, key))]
  if (unknown !== undefined)
    throw new AppError(
      'not_implemented',
      `This server does not know the key ${unknown} of the validator ${type}`,
    )
  if (!isValidatorType(type) || !isConfigOf(type, config))
    throw new AppError('not_implemented', `This server cannot check the validator ${type}`)
}

function check<T extends ValidatorType>(type: T, asked: Asked, config: unknown): void {
  if (isConfigOf(type, config)) CHECKS[type](asked, config)
}

const isConfigOf = <T extends ValidatorType>(type: T, config: unknown): config is ValidatorConfig<T> =>
  Value.Check(VALIDATOR_CONFIGS[type], config)

function requireAuth({ ctx, rule, caller }: Asked, config: ValidatorConfig<'auth_required'>): void {
  const { actor } = caller
  if (actor.kind === 'key' && config.requiredScopes?.length) throw insufficientScope(config.requiredScopes)
  const isKey = actor.kind === 'key' && config.allowApiKey === true
  if (!('user' in actor) && !isKey) throw new AppError('unauthenticated', 'Sign in to use this')
  const role = roleOnSite(ctx, caller, rule.projectId)
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

function limitRate(
  { ctx, rule, caller, name }: Asked,
  { limit, windowSeconds, keyBy }: ValidatorConfig<'rate_limit'>,
): void {
  const key = `${name} ${keyBy === 'user' ? whoOf(caller) : networkOf(addressOf(caller))}`
  const now = ctx.now()
  const windowMs = windowSeconds * 1000
  const window = windowsOf(ctx).at(rule.projectId, key, now, windowMs)
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

import type { Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import type { HeaderConfig } from '../domain/forward-headers.ts'
import { literalPrefix, type PathPattern, readPathPattern } from '../domain/path-pattern.ts'
import { behindPrefix } from '../domain/plain-path.ts'
import { type RedirectRule, readRedirectRule } from '../domain/routing/redirect-rule.ts'
import { isApiOfOriginal } from '../domain/target-shape.ts'
import { openHeaderValues, parseStored } from '../modules/proxy-rules/header-values.ts'
import { listRulesFor, type RuleRecord } from '../modules/proxy-rules/live-rules.ts'
import { parseMethods } from '../modules/proxy-rules/methods.ts'
import type { PipelineConfig, PipelineRule } from '../pipelines/language/model.ts'

/** Where requests are forwarded to, and how. A rule, and a line of `_redirects` with an address. */
export type Backend = {
  record: Pick<RuleRecord, 'id' | 'timeoutMs' | 'forwardCookies' | 'preserveHost'>
  /** What `stripPrefix` removes from the front of the path, in plain form. */
  prefix: string
  /** Null if the rule has no target that can be called. */
  target: RuleTarget | null
  /** Path and query that are called whatever the visitor's are, for a line of `_redirects`. */
  wholeTarget?: string
  /** With decrypted values; decrypted when the first request needs them. */
  headerConfig: () => HeaderConfig | null
}

/** A rule, prepared for many requests. Valid for one site generation. */
export type SiteRule = Backend & {
  record: RuleRecord
  level: 'alias' | 'project'
  pattern: PathPattern
  /** Null means every method. */
  methods: ReadonlySet<string> | null
  /** Null unless it is a redirect; one that cannot be read takes no request. */
  redirect: RedirectRule | null
  /** For pipeline rules. Always returns the same object, because the compiled pipeline is cached by it. */
  pipeline: () => PipelineRule
}

/** The URL that a rule forwards to. Its parts are stored, because reading them from the URL creates new strings. */
export type RuleTarget = {
  url: URL
  pathname: string
  /** The path without a trailing slash. */
  base: string
  search: string
}

const NO_RULES: readonly SiteRule[] = []
const cache = generationCache<readonly SiteRule[]>('sites', 50_000)

/** All rules of a site in the order they are tried: first the alias's, then the project's. contract §8. */
export function rulesOf(ctx: Context, projectId: string, aliasId: string | null): readonly SiteRule[] {
  const ofProject = rulesOfLevel(ctx, projectId, null)
  if (aliasId === null) return ofProject
  const ofAlias = rulesOfLevel(ctx, projectId, aliasId)
  if (ofAlias.length === 0) return ofProject
  return ofProject.length === 0 ? ofAlias : [...ofAlias, ...ofProject]
}

/** The rest of a raw path without the rule's prefix; starts with `/`, or is empty. */
export function restOfPath(rule: Pick<Backend, 'prefix'>, path: string): string {
  return behindPrefix(path, rule.prefix)
}

function rulesOfLevel(ctx: Context, projectId: string, aliasId: string | null): readonly SiteRule[] {
  const load = () => {
    const records = listRulesFor(ctx, { projectId, aliasId })
    const level = aliasId === null ? 'project' : 'alias'
    return records.length === 0 ? NO_RULES : records.map((record) => compile(ctx, record, level))
  }
  return cache.get(ctx.db, `${projectId} ${aliasId ?? ''}`, load) ?? NO_RULES
}

function compile(ctx: Context, record: RuleRecord, level: SiteRule['level']): SiteRule {
  const pattern = readPathPattern(record.pathPattern)
  const { targetUrl, proxyType } = record
  let opened: { config: HeaderConfig | null } | null = null
  let pipeline: PipelineRule | null = null
  return {
    record,
    level,
    pattern,
    prefix: record.stripPrefix ? literalPrefix(pattern) : '',
    methods: methodsOf(record),
    target: proxyType === 'external_proxy' ? targetOf(targetUrl) : null,
    redirect: proxyType === 'redirect' ? readRedirectRule(record) : null,
    pipeline: () => {
      pipeline ??= pipelineRuleOf(record)
      return pipeline
    },
    headerConfig: () => {
      opened ??= { config: openHeaderConfig(ctx, record) }
      return opened.config
    },
  }
}

const SERVES_FILES = '"handlerType":"file_serve_handler"'

/** Who may GET a file may ask for its HEAD. contract 14.3, Serving. */
function methodsOf({ method, methods, pipelineConfig }: RuleRecord): ReadonlySet<string> | null {
  const named = new Set([...(parseMethods(methods) ?? []), ...(method === null ? [] : [method])])
  if (named.has('GET') && pipelineConfig?.includes(SERVES_FILES)) named.add('HEAD')
  return named.size === 0 ? null : named
}

const targetOf = (targetUrl: string): RuleTarget | null =>
  URL.canParse(targetUrl) && !isApiOfOriginal(targetUrl) ? targetAt(new URL(targetUrl)) : null

/** The target at an address. */
export function targetAt(url: URL): RuleTarget {
  const { pathname, search } = url
  return { url, pathname, base: pathname.endsWith('/') ? pathname.slice(0, -1) : pathname, search }
}

/** The configuration was validated when it was saved, but possibly by another version. */
export function pipelineRuleOf({
  id,
  projectId,
  pathPattern,
  method,
  pipelineConfig,
  debugEnabled,
}: Omit<RuleRecord, 'origin'>): PipelineRule {
  const config = JSON.parse(pipelineConfig ?? '{"steps":[]}') as PipelineConfig
  return { id, projectId, pathPattern, method, pipelineConfig: config, debugEnabled }
}

/** A header declared without a value is not sent, neither from the rule nor from the visitor. */
function openHeaderConfig(ctx: Context, record: RuleRecord): HeaderConfig | null {
  const stored = parseStored(record.headerConfig)
  if (stored === null) return null
  const unset = Object.entries(stored.add ?? {}).flatMap(([name, sealed]) => (sealed === '' ? [name] : []))
  return {
    add: openHeaderValues(ctx.secrets, record.id, stored),
    forward: stored.forward,
    strip: [...(stored.strip ?? []), ...unset],
  }
}

import { plainPath } from '../domain/plain-path.ts'
import { RESOURCE_METADATA_PATH } from '../domain/resource-metadata.ts'
import type { PipelineRule, PipelineStep } from '../pipelines/language/model.ts'
import type { SiteRule } from './site-rules.ts'

/** What describes a resource of the site, and answers everybody: `rule` runs nothing but the step that does. */
export type Described = { resource: string; siteRule: SiteRule; rule: PipelineRule }

/**
 * What answers an address of `oauth_protected_resource`, before visibility and whatever pattern its rule has; undefined for
 * any other address. contract 14.5.
 */
export function describedAt(
  rules: readonly SiteRule[],
  { plain, method }: { plain: string; method: string },
): Described | undefined {
  if (!plain.startsWith(RESOURCE_METADATA_PATH) || (method !== 'GET' && method !== 'HEAD')) return undefined
  const rest = plain.slice(RESOURCE_METADATA_PATH.length)
  if (rest !== '' && !rest.startsWith('/')) return undefined
  const all = describedOf(rules)
  return all.find(({ resource }) => resource === rest) ?? all[0]
}

/** The address that describes what is at a path: the resource itself, or the nearest one that it lies below. */
export function descriptionOf(rules: readonly SiteRule[], path: string): string | undefined {
  const [nearest] = describedOf(rules)
    .map(({ resource }) => resource)
    .filter((resource) => path === resource || path.startsWith(resource.replace(/\/?$/, '/')))
    .sort((a, b) => b.length - a.length)
  return nearest === undefined ? undefined : `${RESOURCE_METADATA_PATH}${nearest}`
}

const known = new WeakMap<readonly SiteRule[], readonly Described[]>()

/** Looked for once in the rules of a site: every pipeline has to be read for it. */
function describedOf(rules: readonly SiteRule[]): readonly Described[] {
  const found = known.get(rules) ?? rules.flatMap(describe)
  known.set(rules, found)
  return found
}

function describe(siteRule: SiteRule): Described[] {
  if (!siteRule.record.isEnabled || siteRule.record.proxyType !== 'pipeline') return []
  const rule = siteRule.pipeline()
  const { postSteps: _, ...pipelineConfig } = rule.pipelineConfig
  const steps = pipelineConfig.steps.filter(describes)
  const resource = steps[0]?.config?.['resource']
  if (typeof resource !== 'string') return []
  const only = { ...rule, pipelineConfig: { ...pipelineConfig, steps } }
  return [{ resource: plainPath(resource), siteRule, rule: only }]
}

const describes = ({ handlerType, isEnabled }: PipelineStep): boolean =>
  handlerType === 'oauth_protected_resource' && isEnabled !== false

import type { ProjectRole } from './roles.ts'

/** What an alias or a domain says; null inherits. */
export type VisibilitySettings = {
  isPublic: boolean | null
  requiredRole: ProjectRole | null
  isSpa: boolean | null
}

/** A project always says who may see it; its `isSpa` may be left to the content of the deployment. */
type ProjectVisibility = { isPublic: boolean; requiredRole: ProjectRole; isSpa: boolean | null }

type VisibilityLevel = 'domain' | 'alias' | 'project'

/**
 * `setBy` says which level decided each; `isSpa` is null, set by `default`, where the deployment's files
 * decide.
 */
export type Visibility = ProjectVisibility & {
  setBy: { isPublic: VisibilityLevel; requiredRole: VisibilityLevel; isSpa: VisibilityLevel | 'default' }
}

/**
 * The most specific that is set of domain, alias and project, for each setting by itself. contract §4:
 * Visibility.
 */
export function resolveVisibility(levels: {
  domain?: VisibilitySettings | null
  alias?: VisibilitySettings | null
  project: ProjectVisibility
}): Visibility {
  const { domain, alias, project } = levels
  const isPublic = pick(domain?.isPublic, alias?.isPublic, project.isPublic)
  const requiredRole = pick(domain?.requiredRole, alias?.requiredRole, project.requiredRole)
  const isSpa = pick(domain?.isSpa, alias?.isSpa, project.isSpa)
  return {
    isPublic: isPublic.value,
    requiredRole: requiredRole.value,
    isSpa: isSpa.value,
    setBy: {
      isPublic: isPublic.by,
      requiredRole: requiredRole.by,
      isSpa: isSpa.value === null ? 'default' : isSpa.by,
    },
  }
}

function pick<T>(
  domain: NonNullable<T> | null | undefined,
  alias: NonNullable<T> | null | undefined,
  project: T,
): { value: T; by: VisibilityLevel } {
  if (domain !== null && domain !== undefined) return { value: domain, by: 'domain' }
  if (alias !== null && alias !== undefined) return { value: alias, by: 'alias' }
  return { value: project, by: 'project' }
}

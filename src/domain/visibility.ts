import type { ProjectRole } from './roles.ts'

/** The settings of an alias or a domain; null inherits. */
export type VisibilitySettings = {
  isPublic: boolean | null
  requiredRole: ProjectRole | null
  isSpa: boolean | null
}

/** A project always sets who may see it; its `isSpa` may be null, so that the deployment's content decides. */
type ProjectVisibility = { isPublic: boolean; requiredRole: ProjectRole; isSpa: boolean | null }

type VisibilityLevel = 'domain' | 'alias' | 'project'

/**
 * `setBy` names the level that decided each setting. `isSpa` is null, set by `default`, if the deployment's files
 * decide.
 */
export type Visibility = ProjectVisibility & {
  setBy: { isPublic: VisibilityLevel; requiredRole: VisibilityLevel; isSpa: VisibilityLevel | 'default' }
}

/**
 * Takes each setting separately from the most specific level that sets it: domain, alias, then project. contract §4:
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

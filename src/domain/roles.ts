/** From lowest to highest: the index is the level. spec: Project roles. */
export const PROJECT_ROLES = ['guest', 'viewer', 'contributor', 'admin', 'owner'] as const
export type ProjectRole = (typeof PROJECT_ROLES)[number]

/** spec: Global roles. Exactly one per user; new users are `member`. */
export const GLOBAL_ROLES = ['admin', 'user', 'member'] as const
export type GlobalRole = (typeof GLOBAL_ROLES)[number]

/** 0 for guest to 4 for owner. */
export function roleLevel(role: ProjectRole): number {
  return PROJECT_ROLES.indexOf(role)
}

/** Whether `role` is `least` or higher; null is lower than any role. */
export function hasAtLeast(role: ProjectRole | null, least: ProjectRole): boolean {
  return role !== null && roleLevel(role) >= roleLevel(least)
}

/** The effective role: the highest from all sources, null if there is none. spec: Permission sources. */
export function highestRole(roles: Iterable<ProjectRole | null | undefined>): ProjectRole | null {
  let highest: ProjectRole | null = null
  for (const role of roles) {
    if (role && (highest === null || roleLevel(role) > roleLevel(highest))) highest = role
  }
  return highest
}

/** Caps `role` at `max`: on a site host a session is at most a viewer. */
export function lowerRole(role: ProjectRole | null, max: ProjectRole): ProjectRole | null {
  return role !== null && roleLevel(role) > roleLevel(max) ? max : role
}

export function isProjectRole(value: unknown): value is ProjectRole {
  return (PROJECT_ROLES as readonly unknown[]).includes(value)
}

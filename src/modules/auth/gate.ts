import type { Context, SitePlace } from '../../context.ts'
import { standingOf } from '../members/service.ts'
import { readSettings } from '../settings/read-settings.ts'

/**
 * The project whose membership gate applies to this host. Visitors without a membership are anonymous there, and the
 * project decides who may sign up. Null without a gate: on the admin host, and everywhere while the setting is off.
 * spec: Project membership gate.
 */
export const gatedProject = (ctx: Context, site: SitePlace): string | null =>
  site !== null && readSettings(ctx).requireProjectMembership.value ? site.projectId : null

/** Whether the gate lets the person in: as a member, or because there is no gate. */
export function passesGate(ctx: Context, site: SitePlace, userId: string): boolean {
  const projectId = gatedProject(ctx, site)
  return projectId === null || standingOf(ctx, projectId, userId).isMember
}

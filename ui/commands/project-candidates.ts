import type { ProjectAction } from '../../src/domain/access.ts'
import { waysBack } from '../../src/domain/alias-line.ts'
import { findAliasByName, historyOf } from '../../src/modules/aliases/service.ts'
import { authorize, mayDo } from '../../src/modules/auth/authorize.ts'
import { getProject } from '../../src/modules/projects/service.ts'
import { rollBackDialogId } from '../aliases/roll-back-dialog.ts'
import { visitUrl } from '../frame/page-request.ts'
import { PROJECT_PAGES } from '../frame/project-frame.ts'
import { CAN } from '../frame/project-request.ts'
import { type Candidate, type Does, opens, type Person } from './command.ts'

type Named = { id: string; owner: string; name: string; displayName: string }

/** The pages of the project that this page is of. */
export const tabCandidates = (person: Person, project: Named): Candidate[] =>
  PROJECT_PAGES.map(({ label, path, needs }) => ({
    id: `tab ${project.id} ${label}`,
    name: label,
    group: groupOf(project),
    doing: () =>
      mayIn(person, project, needs === undefined ? 'project:read' : CAN[needs])
        ? opens(`/projects/${project.id}${path}`)
        : undefined,
  }))

/** What may be done with one of all the projects. */
export function toProject(person: Person, project: Named): Candidate[] {
  const { id, displayName } = project
  const candidate = (verb: string, action: ProjectAction, does: () => Does | undefined): Candidate => ({
    id: `${verb} ${id}`,
    name: verb === '' ? displayName : `${verb} ${displayName}`,
    group: groupOf(project),
    doing: () => (mayIn(person, project, action) ? does() : undefined),
  })
  return [
    candidate('', 'project:read', () => opens(`/projects/${id}`)),
    candidate('Open', 'project:read', () => opening(person, project)),
    candidate('Copy the address of', 'project:read', () => copying(person, project)),
    candidate('Publish to', 'deployment:create', () => opens(`/projects/${id}/publish`)),
    candidate('Roll back', 'alias:write', () => rollingBack(person, project)),
    candidate('People of', 'project:read', () => opens(`/projects/${id}/people`)),
    candidate('Settings of', 'settings:manage', () => opens(`/projects/${id}/settings`)),
  ]
}

const groupOf = ({ owner, name, displayName }: Named): string =>
  displayName === name ? `${owner}/${name}` : `${displayName} (${owner}/${name})`

const mayIn = ({ ctx, caller }: Person, { id }: Named, action: ProjectAction): boolean =>
  mayDo(ctx, caller, action, id, action === 'project:read')

const grantFor = ({ ctx, caller }: Person, { id }: Named) =>
  authorize(ctx, caller, 'project:read', { projectId: id }, true)

/** By the sign-in page, which leads to public sites too. */
function opening(person: Person, project: Named): Does | undefined {
  const { url } = getProject(person.ctx, grantFor(person, project))
  return url === null ? undefined : opens(visitUrl(person.ctx, person.request, { url, isPublic: false }))
}

function copying(person: Person, project: Named): Does | undefined {
  const { url } = getProject(person.ctx, grantFor(person, project))
  return url === null ? undefined : { kind: 'copy', text: url }
}

/** Into the dialog that the button of the overview opens, where there is one. */
function rollingBack(person: Person, project: Named): Does | undefined {
  const alias = findAliasByName(person.ctx, project.id, 'production')
  if (alias === undefined) return undefined
  const { rollBackTo } = waysBack(historyOf(person.ctx, grantFor(person, project), alias.id))
  return rollBackTo && opens(`/projects/${project.id}#${rollBackDialogId(alias.id)}`)
}

import type { Html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { type AuditList, auditList } from '../workspace/audit-list.ts'

type ProjectAuditPageProps = ProjectPageBase & AuditList

/** Who changed what in one project. contract 17.9. */
export const projectAuditPage = (props: ProjectAuditPageProps): Html =>
  projectFrame(
    props,
    { tab: 'audit', title: 'Audit log' },
    auditList(props, projectHref(props.project.id, '/audit')),
  )

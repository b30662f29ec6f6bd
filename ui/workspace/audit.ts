import type { Html } from '../components/html.ts'
import { type AuditList, auditList } from './audit-list.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type AuditPageProps = WorkspacePageBase & AuditList

/** Who changed what, and the values before. */
export const auditPage = (props: AuditPageProps): Html =>
  workspaceFrame(
    props,
    {
      place: 'audit',
      title: 'Audit log',
      about: 'Every change: who made it, and the values before. What can be undone can be for 30 days.',
    },
    auditList(props, '/admin/audit'),
  )

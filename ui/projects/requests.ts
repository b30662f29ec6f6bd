import type { Html } from '../components/html.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { type LogFilters, type LogList, logList } from '../workspace/request-list.ts'

type RequestsPageProps = ProjectPageBase & LogList<LogFilters>

/** Requests to the sites of one project. */
export const requestsPage = (props: RequestsPageProps): Html => {
  const href = projectHref(props.project.id, '/requests')
  const tailHref = `/api/projects/${props.project.id}/logs/tail`
  return projectFrame(props, { tab: 'requests', title: 'Requests' }, logList(props, { href, tailHref }))
}

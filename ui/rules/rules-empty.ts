import { button } from '../components/button.ts'
import { copyable } from '../components/copyable.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { ProjectPageBase } from '../frame/project-frame.ts'
import { rulesHref } from './rule-words.ts'

/** Explains rules, with a form for the first one and the commands to push many. */
export const noRules = ({ project, can, apiUrl }: ProjectPageBase & { apiUrl: string }): Html =>
  emptyState(
    {
      icon: 'rules',
      title: 'No rules yet',
      text: 'A rule answers a path before the files do. It forwards requests to a server of yours, or runs a pipeline that can process a form, store records and respond.',
    },
    can.configureTraffic &&
      html`
        <div class="stack">
          <h3>Forward a path to a server</h3>
          <form method="post" action=${rulesHref(project.id, '/new')} class="inline-form">
            ${hidden('intent', 'save')} ${hidden('proxyType', 'external_proxy')} ${hidden('stripPrefix', 'true')}
            ${hidden('isEnabled', 'true')}
            ${field({ name: 'pathPattern', label: 'Path', placeholder: '/api/*', verbatim: true })}
            ${field({
              name: 'targetUrl',
              label: 'Server',
              placeholder: 'https://api.example.com',
              type: 'url',
              verbatim: true,
            })}
            ${button({ label: 'Create rule' })}
          </form>
          <h3>Keep rules in the repository</h3>
          <p class="muted">Write rules as files in the site’s repository, test them on your machine and push them with the site.</p>
          ${copyable({ label: 'Rules as code', text: commands(`${project.owner}/${project.name}`, apiUrl) })}
        </div>
      `,
  )

const commands = (project: string, apiUrl: string): string =>
  [
    'export SVC_API_KEY=svc_…',
    'svc rules init guestbook',
    'svc rules test .svc/proxy-rules/guestbook',
    `svc rules push .svc/proxy-rules/guestbook --api-url ${apiUrl} \\`,
    `  --project ${project}`,
  ].join('\n')

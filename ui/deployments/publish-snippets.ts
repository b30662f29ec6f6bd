import { copyable } from '../components/copyable.ts'
import { type Html, html } from '../components/html.ts'

/** Commands to publish a folder, ready to paste into a POSIX shell, and a step for a CI workflow. */
export type PublishSnippets = { deploy: string; curl: string; ci: string }

/**
 * `apiUrl` is the origin of this server; `project` is `owner/repo`. The key comes from the environment, because process
 * lists show command lines.
 */
export function publishSnippets(apiUrl: string, project = 'acme/website'): PublishSnippets {
  const [owner = '', repo = ''] = project.split('/')
  const query = `owner=${owner}&repo=${repo}&commitSha=$(git rev-parse HEAD)&alias=production`
  return {
    deploy: [
      'export SVC_API_KEY=svc_…',
      `svc deploy ./dist --api-url ${apiUrl} \\`,
      `  --project ${project} --alias production`,
    ].join('\n'),
    curl: [
      'export SVC_API_KEY=svc_…',
      'tar cz -C dist . | curl --fail-with-body --data-binary @- \\',
      '  -H "X-API-Key: $SVC_API_KEY" -H "Content-Type: application/gzip" \\',
      `  "${apiUrl}/api/deployments?${query}"`,
    ].join('\n'),
    ci: [
      '- name: Publish',
      '  env:',
      `    SVC_API_KEY: $\{{ secrets.SVC_API_KEY }}`,
      '  run: |',
      '    tar cz -C dist . | curl --fail-with-body --data-binary @- \\',
      '      -H "X-API-Key: $SVC_API_KEY" -H "Content-Type: application/gzip" \\',
      `      "${apiUrl}/api/deployments?${query.replace('$(git rev-parse HEAD)', '$GITHUB_SHA')}"`,
    ].join('\n'),
  }
}

export const publishGuide = (snippets: PublishSnippets): Html => html`
  <div class="stack">
    ${copyable({ label: 'With the svc command, from a laptop or CI', text: snippets.deploy })}
    ${copyable({ label: 'With curl only, inside a git checkout', text: snippets.curl })}
    ${copyable({ label: 'As a step of a CI workflow', text: snippets.ci })}
  </div>
`
